import { expect, test } from 'vitest'
import { chatAddress, placeOf, sharedAddress } from '../../packages/page/src/address.ts'

const id = '6f1c2f4e-5a0b-4c53-9a3e-0b8f2f1f7c11'

test('an address names a view, a conversation, or a new one', () => {
  expect(placeOf('#documents')).toEqual({ view: 'documents' })
  expect(placeOf('#search')).toEqual({ view: 'search' })
  expect(placeOf('#health')).toEqual({ view: 'health' })
  expect(placeOf('#chats')).toEqual({ view: 'chats' })
  expect(placeOf(chatAddress(id))).toEqual({ view: 'chat', sessionId: id })
  expect(placeOf(chatAddress(id, 12))).toEqual({ view: 'chat', sessionId: id, messageId: 12 })
  expect(placeOf(sharedAddress(id))).toEqual({ view: 'shared', sessionId: id })
  const documentId = 'https://x.example/a b'
  const place = { view: 'chat', sessionId: null, documentId }
  expect(placeOf(`#document?id=${encodeURIComponent(documentId)}`)).toEqual(place)
  for (const hash of [
    '',
    '#',
    '#document?id=',
    '#document?x=%zz',
    chatAddress(null),
    '#chat/../admin',
    `#chat/${id}/x`,
    '#nothing',
    '#shared/../admin',
  ])
    expect(placeOf(hash)).toEqual({ view: 'chat', sessionId: null })
})
