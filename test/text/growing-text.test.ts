import { expect, test } from 'vitest'
import { GrowingText } from '@inlay/text'

test.each([0, 1, 255, 256, 257, 1_000])(
  'a text of %i pieces is all of them in order, also when read in between',
  (count) => {
    const [text, read] = [new GrowingText(), new GrowingText()]
    let all = ''
    for (let piece = 0; piece < count; piece++) {
      text.add(`${piece} `)
      read.add(`${piece} `)
      all += `${piece} `
      if (piece % 7 === 0) expect(read.read()).toBe(all)
    }
    expect(text.read()).toBe(all)
    expect(read.read()).toBe(all)
  },
)
