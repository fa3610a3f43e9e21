"""The library that the lessons build: one idea, one module, in the lessons' order.

A module imports only from modules above it. Nothing is re-exported here: write
`from course_lib.softmax import softmax`.

    hardware  device, dtype, threads, time, memory: all that touches the machine
    progress  what the learner has done: one file on their computer
    modes  training and evaluation mode, switched and put back
    softmax  scores become a choice: probabilities, a loss, and whether they are true
    linear  the linear layer, laid out for one token at a time
    masks  who may read whom: causal, padding and window masks; True = may read
    kv_cache  keys and values of past positions, held by the caller
    attention  reading from other positions, with one head or many
    positions  order: sinusoidal, learned, rotary, relative, ALiBi
    feed_forward  what happens at each position alone
    norms  LayerNorm and RMSNorm
    block  the sublayers on one residual stream, and the stack of blocks
    config  what a decoder consists of, and the named configurations
    embedding  tokens become vectors
    initial  the numbers that a new model starts with
    audio  sound becomes a spectrogram, and that a residual stream
    memory  what cross-attention reads, checked
    decoder  the whole model
    encoder  the source's side, and encoder with decoder
    sampling  scores become a token: temperature and filters
    generation  the loop that writes, and beam search
    training  shifted targets, loss per real token, the loop that learns
    tokens  text becomes numbers and numbers text
    data  corpora that come with Python and its packages, and what a model has to beat
    pretrained  real weights: fetched, verified, loaded; and small ones of our own
    apps  programs made of the pieces, each run by its name
    trace  everything a picture needs, from the real forward pass
    figures  pictures with alt text
    explorer  one run of a decoder, looked at in four ways
    demos  one idea each for a projector, taken through by questions
    feedback  which mistake an answer to an exercise makes
    grading  a class's notebooks, run in a sandbox and marked
    quiz  questions as data, a widget that asks them, plain text without one
    overview  how far a learner is, and what comes next
"""
