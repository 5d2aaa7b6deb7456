import { expect, test } from 'vitest'
import { chatAddress, placeOf } from '../../playground/web/address.ts'

const id = '6f1c2f4e-5a0b-4c53-9a3e-0b8f2f1f7c11'

test('an address names a view, a conversation, or a new one', () => {
  expect(placeOf('#documents')).toEqual({ view: 'documents' })
  expect(placeOf('#chats')).toEqual({ view: 'chats' })
  expect(placeOf(chatAddress(id))).toEqual({ view: 'chat', sessionId: id })
  for (const hash of ['', '#', chatAddress(null), '#chat/../admin', `#chat/${id}/x`, '#nothing'])
    expect(placeOf(hash)).toEqual({ view: 'chat', sessionId: null })
})
