import { describe, expect, test } from 'vitest'
import { ThinkSplitter, type ThinkPiece } from '@inlay/drivers/internal/models/repair/think-tags'

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
    ['One. <think>Hm.</think>Two.', 'Hm.', 'One. Two.'],
    ['28', '', '28'],
    ['So far so good. Let me explain: 28.', '', 'So far so good. Let me explain: 28.'],
  ])('%j', (text, reasoning, answer) => {
    expect(split(text, size)).toEqual([reasoning, answer])
  })

  test('a model that begins in a thought', () => {
    expect(split('It is 28.</think>28 days.', size, true)).toEqual(['It is 28.', '28 days.'])
    expect(split('<think>It is 28.</think>28 days.', size, true)).toEqual(['It is 28.', '28 days.'])
    expect(split('28 days.', size, true)[1]).toBe('28 days.')
  })
})

test('an end tag alone is remembered', () => {
  const splitter = new ThinkSplitter(false)
  splitter.push('28 is the number.</think>28 days.')
  splitter.end()
  expect(splitter.beganInThought).toBe(true)
})

test.each(['Hello', 'So far', 'In short', '28 days'])('%j is passed on at once', (text) => {
  expect(new ThinkSplitter(false).push(text)).toEqual([{ kind: 'text', text }])
})
