import { describe, expect, test } from 'vitest'
import { beganInThought, ThinkSplitter, type ThinkPiece } from '@inlay/small-models/internal/repair/think-tags'

/** Reasoning and text of a text that comes in pieces of one length. */
function split(text: string, size: number, startsInThought = false) {
  const splitter = new ThinkSplitter(startsInThought)
  const pieces: ThinkPiece[] = []
  for (let at = 0; at < text.length; at += size) pieces.push(...splitter.push(text.slice(at, at + size)))
  pieces.push(...splitter.end())
  const join = (wanted: string) =>
    pieces
      .filter(({ kind }) => kind === wanted)
      .map((piece) => piece.text)
      .join('')
  return [join('reasoning'), join('text')]
}

describe.each([1, 3, 10_000])('in pieces of %i', (size) => {
  test.each([
    ['<think>I look it up.</think>\n\n28 days.', 'I look it up.', '28 days.'],
    ['\n<thinking>Hm.</thinking>28 days.', 'Hm.', '28 days.'],
    ['[THINK]Hm.[/THINK]28 days.', 'Hm.', '28 days.'],
    ['◁think▷Hm.◁/think▷28 days.', 'Hm.', '28 days.'],
    ['<think></think>28 days.', '', '28 days.'],
    ['<think>cut off', 'cut off', ''],
    ['Here is my thought process: I add. Here is my response: 3.', ' I add. ', '3.'],
    [
      'Here is my thought process: I add, then I check.',
      ' I add, then I check.',
      'Here is my thought process: I add, then I check.',
    ],
    [
      'Okay, the user asks about leave.\nIt is 28.</think>\n28 days.',
      'Okay, the user asks about leave.\nIt is 28.',
      '28 days.',
    ],
    ['Okay, here you are: 28 days.', '', 'Okay, here you are: 28 days.'],
    ['28 days, a < b, <th>, `<thinking>` is a tag.', '', '28 days, a < b, <th>, `<thinking>` is a tag.'],
    ['One. <think>Hm.</think>Two.', '', 'One. <think>Hm.</think>Two.'],
    ['<think>Hm.</think>\n<think>So.</think>Two, as <think> said.', 'Hm.So.', 'Two, as <think> said.'],
    ['<think>It asks for `</think>`.</think>Two.', 'It asks for `</think>`.', 'Two.'],
    ['<think> is the tag that Qwen3 writes.', '', '<think> is the tag that Qwen3 writes.'],
    ['Okay, so the tag </think> ends a thought.', '', 'Okay, so the tag </think> ends a thought.'],
    ['28', '', '28'],
    ['So far so good. Let me explain: 28.', '', 'So far so good. Let me explain: 28.'],
  ])('%j', (text, reasoning, answer) => {
    expect(split(text, size)).toEqual([reasoning, answer])
  })

  test('a model that begins in a thought', () => {
    expect(split('It is 28.</think>28 days.', size, true)).toEqual(['It is 28.', '28 days.'])
    expect(split('<think>It is 28.</think>28 days.', size, true)).toEqual(['It is 28.', '28 days.'])
    expect(split('28 days.', size, true)[1]).toBe('28 days.')
    // A line with backticks behind its first ones opens no code.
    const thought = 'The user asks about marks.\n``` and `x` are different things, so I say that.\n'
    expect(split(`${thought}</think>\nUse three backticks.`, size, true)).toEqual([thought, 'Use three backticks.'])
  })
})

test('an end tag behind a sentence or on its own line shows that a model begins in a thought', () => {
  expect(beganInThought('28 is the number.</think>28 days.')).toBe(true)
  expect(beganInThought('It is 28\n</think>\n\n28 days.')).toBe(true)
  for (const text of ['The tag </think> ends it.', 'Split at `.</think>`.', '```\n</think>\n```', '28.'])
    expect(beganInThought(text)).toBe(false)
})

test.each([1, 7, 1_000])('a tag in code ends no thought that a model only may begin in, in pieces of %i', (size) => {
  const text = 'Split it at `</think>`, not before:\n```\n</think>\n```\nas "</think>" shows.'
  expect(split(text, size, true)[1]).toBe(text)
})

test.each(['Hello', 'So far', 'In short', '28 days'])('%j is passed on at once', (text) => {
  expect(new ThinkSplitter(false).push(text)).toEqual([{ kind: 'text', text }])
})
