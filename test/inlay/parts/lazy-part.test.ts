import { expect, test } from 'vitest'
import { lazyPart } from 'inlay/internal/inlay'

interface Part {
  count(by: number): Promise<number>
  readonly group: { list(): Promise<string[]> }
  fail(): Promise<never>
}

function makePart(): { part: Part; loads: () => number } {
  let loads = 0
  let total = 0
  const created: Part = {
    async count(by) {
      expect(this).toBe(created)
      return (total += by)
    },
    group: {
      async list() {
        expect(this).toBe(created.group)
        return ['a']
      },
    },
    fail: () => Promise.reject(new Error('as it is')),
  }
  const load = async (): Promise<Part> => {
    loads++
    return created
  }
  return { part: lazyPart(load), loads: () => loads }
}

test('nothing is loaded before a method is called', async () => {
  const { part, loads } = makePart()
  const { count } = part
  expect(loads()).toBe(0)
  expect(await part.count(2)).toBe(2)
  expect(loads()).toBeGreaterThan(0)
  expect(count).toBeTypeOf('function')
})

test('methods and groups of methods do what those of the part do', async () => {
  const { part } = makePart()
  expect(await part.count(2)).toBe(2)
  expect(await part.count(3)).toBe(5)
  expect(await part.group.list()).toEqual(['a'])
  await expect(part.fail()).rejects.toThrow('as it is')
})

test('a part is no promise, so it can be handed on by an async function', async () => {
  const { part, loads } = makePart()
  expect(await Promise.resolve(part)).toBe(part)
  expect(loads()).toBe(0)
})

test('a part that cannot be loaded says why at each call', async () => {
  const part = lazyPart<Part>(() => Promise.reject(new Error('no disk')))
  await expect(part.count(1)).rejects.toThrow('no disk')
  await expect(part.group.list()).rejects.toThrow('no disk')
})
