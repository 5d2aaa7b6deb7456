import { expect, test } from 'vitest'
import { createCitableDocuments } from '@inlay/agent/internal/citations/citable-documents'
import { newDoc } from '../setting.ts'

const docs = (...ids: string[]) => ids.map((id) => newDoc(id))

test('the first call of a step goes on counting, each further one starts a hundred above', () => {
  const citable = createCitableDocuments()
  const first = citable.openStep()
  const [initial, second] = [first(0), first(1)]
  expect(second.cite(docs('x', 'y'))).toEqual([101, 102])
  expect(initial.cite(docs('a', 'b'))).toEqual([1, 2])
  expect(citable.openStep()(0).cite(docs('c'))).toEqual([103])
  expect(citable.known(102)?.document_id).toBe('y')
  expect(citable.known(3)).toBeUndefined()
})

test('a document has one number, whoever finds it again and in whatever passage', () => {
  const citable = createCitableDocuments()
  const step = citable.openStep()
  expect(step(0).cite(docs('a', 'b', 'a'))).toEqual([1, 2, 1])
  expect(step(1).cite(docs('b', 'c'))).toEqual([2, 101])
})

test('a call may cite bit by bit, and beyond its hundred without taking numbers of the next', () => {
  const citable = createCitableDocuments()
  const step = citable.openStep()
  const [first, second] = [step(0), step(1)]
  second.cite(docs('x'))
  expect(first.cite(docs('a'))).toEqual([1])
  const many = first.cite(docs(...Array.from({ length: 120 }, (_, index) => `d${index}`)))
  expect(many[0]).toBe(2)
  expect(new Set([...many, 101, 1]).size).toBe(122)
})
