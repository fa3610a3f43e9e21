// What colours mean. The paper is white in both themes; a meaning is never carried by
// colour alone.

const INK = "#222222";
const HATCH = "#777777";
const BLUE = [0, 114, 178];
const DARK_BLUE = [8, 48, 107];
const ORANGE = [213, 94, 0];
const LEAK = "#D55E00";

const WHITE = [255, 255, 255];
const GREY = [238, 238, 238];
const PINK = [251, 227, 240];

// White on the way to a colour, as red, green and blue.
function towards(colour, share) {
  return WHITE.map((white, i) => Math.round(white + (colour[i] - white) * share));
}

// Weights in 0..1: one hue, darker is more.
function weightColour(value) {
  return towards(DARK_BLUE, clamp(value, 0, 1) ** 0.7);
}

// Signed numbers: blue below 0, orange above, white at 0.
function signedColour(value, most) {
  const share = most > 0 ? clamp(Math.abs(value) / most, 0, 1) : 0;
  return towards(value < 0 ? BLUE : ORANGE, share);
}

// What the colours of a matrix mean: a strip of them, and the numbers at its ends.
function ramp(colour, low, high, words) {
  const shades = Array.from({ length: 9 }, (_, i) => `rgb(${colour(low + ((high - low) * i) / 8)})`);
  const bar = element("span", { className: "dx-ramp", "aria-hidden": "true" });
  bar.style.background = `linear-gradient(to right, ${shades})`;
  return element("div", { className: "dx-scale" }, bar, words.map((end) => element("span", {}, end)));
}

function largest(data) {
  let most = 0;
  for (const value of data) {
    const size = Math.abs(value);
    if (Number.isFinite(size) && size > most) most = size;
  }
  return most;
}
