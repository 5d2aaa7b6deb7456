import { expect, test } from 'vitest'
import { isNamed, toUserId, toUserNames } from '@inlay/protocol'

const form = /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

test('an id becomes the same UUID every time, other ids others', () => {
  expect(toUserId('operator')).toBe('a4c5c582-a9ad-5ff3-9c4c-54603b53e784')
  expect(toUserId('operator')).toBe(toUserId('operator'))
  const ids = ['', 'ana', 'Ana', 'ana@example.com', 'key:1', '日本'].map(toUserId)
  for (const id of ids) expect(id).toMatch(form)
  expect(new Set(ids).size).toBe(ids.length)
})

test('a UUID stays, in lower case', () => {
  expect(toUserId('6F1C2F4E-5A0B-4C53-9A3E-0B8F2F1F7C11')).toBe('6f1c2f4e-5a0b-4c53-9a3e-0b8f2f1f7c11')
})

test('a list names callers by id, by the id they are told, and by e-mail address', () => {
  const ana = { id: 'ana', email: 'ana@example.com' }
  for (const name of ['ana', toUserId('ana'), 'ana@example.com']) expect(isNamed(new Set([name]), ana)).toBe(true)
  expect(isNamed(new Set([toUserId('bea'), 'ana@other.example']), ana)).toBe(false)
  expect(toUserNames(['ana', 'ana@example.com'])).toEqual([toUserId('ana'), 'ana@example.com'])
})
