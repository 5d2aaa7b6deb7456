import { createSharedCapacity } from '@inlay/server/internal/limits/shared-capacity'
import { expect, test } from 'vitest'

const refusalOf = (work: () => void): unknown => {
  try {
    work()
    return undefined
  } catch (error) {
    return (error as { data?: unknown }).data
  }
}

test('an amount above a budget is given where nothing else is held, and refused beside something', () => {
  const budget = createSharedCapacity({ total: 10, perCaller: 6, message: 'Too much.' })
  const alone = budget.open('ana')
  expect(refusalOf(() => alone.grow(8))).toBeUndefined()
  expect(refusalOf(() => alone.grow(20))).toBeUndefined()
  expect(refusalOf(() => budget.open('ana').grow(1))).toMatchObject({ of: 'caller' })
  expect(refusalOf(() => budget.open('ben').grow(1))).toMatchObject({ of: 'tenant' })
})

test('a share that was given back takes nothing more', () => {
  const budget = createSharedCapacity({ total: 10, perCaller: 10, message: 'Too much.' })
  const share = budget.open('ana')
  share.grow(5)
  share.release()
  share.grow(5)
  const other = budget.open('ben')
  other.grow(1)
  expect(refusalOf(() => other.grow(10))).toBeUndefined()
})

test('a share that is released twice gives its amount back once', () => {
  const budget = createSharedCapacity({ total: 10, perCaller: 10, message: 'Too much.' })
  const [share, other] = [budget.open('ana'), budget.open('ben')]
  share.grow(4)
  other.grow(6)
  share.release()
  share.release()
  expect(refusalOf(() => budget.open('ana').grow(5))).toMatchObject({ of: 'tenant' })
})
