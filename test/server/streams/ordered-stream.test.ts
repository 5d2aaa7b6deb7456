import { describe, expect, test } from 'vitest'
import { orderedStream } from '@inlay/server/internal/streams/ordered-stream'

interface Item {
  readonly name: string
  readonly bytes: number
}

const wide = { items: 100, bytes: 1e9, answerChars: 1e9 }
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

async function* items(count: number, bytes = 1): AsyncGenerator<Item> {
  for (let at = 0; at < count; at++) yield { name: String(at), bytes }
}

async function textOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  return new Response(stream).text()
}

/** Work that ends when a test triggers it. */
function held(): {
  work: (item: Item) => Promise<string>
  begun: string[]
  end(name: string): void
  most: () => number
} {
  const waiting = new Map<string, (answer: string) => void>()
  const begun: string[] = []
  let most = 0
  return {
    begun,
    most: () => most,
    work: ({ name }) =>
      new Promise((resolve) => {
        begun.push(name)
        waiting.set(name, resolve)
        most = Math.max(most, waiting.size)
      }),
    end(name) {
      waiting.get(name)?.(`${name} `)
      waiting.delete(name)
    },
  }
}

test('answers come in the order of the items, whatever is done first', async () => {
  const { work, end } = held()
  const text = textOf(orderedStream(items(4), work, wide, () => {}))
  await turn()
  for (const name of ['2', '0', '3', '1']) end(name)
  expect(await text).toBe('0 1 2 3 ')
})

test('nothing in, nothing out', async () => {
  expect(
    await textOf(
      orderedStream(
        items(0),
        async () => 'x',
        wide,
        () => {},
      ),
    ),
  ).toBe('')
})

describe('no more is taken in', () => {
  test('than items may be worked on', async () => {
    const { work, end, begun, most } = held()
    const text = textOf(orderedStream(items(9), work, { ...wide, items: 3 }, () => {}))
    for (let at = 0; at < 9; at++) {
      await turn()
      expect(begun.length).toBe(Math.min(9, at + 3))
      end(String(at))
    }
    expect([await text, most()]).toEqual(['0 1 2 3 4 5 6 7 8 ', 3])
  })

  test('than their bytes allow, though one that is larger still is', async () => {
    const { work, end, begun } = held()
    const text = textOf(orderedStream(items(3, 50), work, { ...wide, bytes: 10 }, () => {}))
    await turn()
    expect(begun).toEqual(['0'])
    for (const name of ['0', '1', '2']) {
      end(name)
      await turn()
    }
    expect(await text).toBe('0 1 2 ')
  })

  test('than a reader who does not read may leave waiting', async () => {
    const begun: string[] = []
    const work = async ({ name }: Item): Promise<string> => {
      begun.push(name)
      return `${name} `
    }
    const stream = orderedStream(items(1000), work, { ...wide, items: 2, answerChars: 10 }, () => {})
    for (let at = 0; at < 20; at++) await turn()
    expect(begun.length).toBeLessThan(20)
    expect((await textOf(stream)).trim().split(' ')).toHaveLength(1000)
  })
})

test('a sender that fails ends the answers after those that were taken in', async () => {
  async function* failing(): AsyncGenerator<Item> {
    yield { name: 'a', bytes: 1 }
    throw new Error('gone')
  }
  expect(
    await textOf(
      orderedStream(
        failing(),
        async ({ name }) => name,
        wide,
        () => {},
      ),
    ),
  ).toBe('a')
})

test('a reader that leaves is told to whoever sends', async () => {
  let left = 0
  const { work } = held()
  const stream = orderedStream(items(5), work, { ...wide, items: 1 }, () => left++)
  await turn()
  await stream.cancel()
  expect(left).toBe(1)
})

test('an answer that does not come stops the intake, however many others are done', async () => {
  let begun = 0
  const head = Promise.withResolvers<string>()
  const work = async ({ name }: Item): Promise<string> => {
    begun++
    return name === '0' ? head.promise : `${name} `
  }
  const stream = orderedStream(items(1000), work, { ...wide, items: 8 }, () => {})
  const text = textOf(stream)
  for (let count = 0; count < 50; count++) await turn()
  expect(begun).toBe(8)
  head.resolve('0 ')
  expect((await text).split(' ')).toHaveLength(1001)
})
