import { InlayError } from '@inlay/protocol'
import { expect, test } from 'vitest'
import { hitText } from '../../../packages/page/src/chats/chat-hit.tsx'
import { readPages, removeEach, restoreEach } from '../../../packages/page/src/chats/chats.ts'
import { byDay } from '../../../packages/page/src/chats/sidebar.tsx'
import type { ListedChat } from '../../../packages/page/src/service/service.ts'

const chat = (id: string, time: string, isPinned = false): ListedChat => ({ id, name: id, time, isPinned })
const idsOf = (chats: readonly ListedChat[]): readonly string[] => chats.map(({ id }) => id)

test('pinned chats have a section of their own before the days', () => {
  const now = new Date(2026, 2, 3, 12)
  const at = (day: number): string => new Date(2026, 2, day, 8).toISOString()
  const days = byDay([chat('pinned', at(1), true), chat('today', at(3)), chat('yesterday', at(2))], now)
  expect(days.map(([day, listed]) => [day, idsOf(listed)])).toEqual([
    ['Pinned', ['pinned']],
    ['Today', ['today']],
    ['Yesterday', ['yesterday']],
  ])
})

test('no further page is read for a listing that nobody waits for any more', async () => {
  const reading = new AbortController()
  const read: (string | null)[] = []
  const service = {
    async chats(_: string, before: string | null) {
      read.push(before)
      if (before === 'second') reading.abort()
      return { chats: [chat(String(before), '2026-01-01T00:00:00Z')], next: before === null ? 'second' : 'third' }
    },
  }
  await readPages(service, '', 9, reading.signal)
  expect(read).toEqual([null, 'second'])
})

test('chats are removed until one cannot be, and one that is gone counts as removed', async () => {
  const chats = ['first', 'gone', 'kept', 'left'].map((id) => chat(id, '2026-01-01T00:00:00Z'))
  const calls: string[] = []
  const failure = new InlayError('CONNECTION_ERROR')
  const outcome = await removeEach(chats, {
    async removeChat(id) {
      calls.push(id)
      if (id === 'gone') throw new InlayError('SESSION_NOT_FOUND')
      if (id === 'kept') throw failure
    },
  })
  expect(idsOf(outcome.gone)).toEqual(['first', 'gone'])
  expect(outcome.error).toBe(failure)
  expect(calls).toEqual(['first', 'gone', 'kept'])
})

test('chats that cannot be brought back are told, with the reason', async () => {
  const chats = ['back', 'left'].map((id) => chat(id, '2026-01-01T00:00:00Z'))
  const failure = new InlayError('CONNECTION_ERROR')
  const { left, error } = await restoreEach(chats, {
    async restoreChat(id) {
      if (id === 'left') throw failure
    },
  })
  expect(idsOf(left)).toEqual(['left'])
  expect(error).toBe(failure)
})

test('a hit is shown without the signs of Markdown', () => {
  expect(hitText('…the **paid** leave [[1]](https://a.example/x) of `staff`…')).toBe('…the paid leave of staff…')
  expect(hitText('Staff get 25 days [[1]](https://a.example/x) [[2]](https://a.example/y). Ask.')).toBe(
    'Staff get 25 days. Ask.',
  )
  expect(hitText('… | Kind | Days | |:--|--:| | Leave | 25 | Ask your lead.')).toBe(
    '…Kind · Days · Leave · 25 · Ask your lead.',
  )
  expect(hitText('## Leave\n- See [the form](https://a.example)\n> * first')).toBe('Leave See the form first')
  expect(hitText('5 - 3 + 1 * 2 > 2')).toBe('5 - 3 + 1 * 2 > 2')
  expect(hitText('snake_case stays, and so do 3 < 4 and a-b')).toBe('snake_case stays, and so do 3 < 4 and a-b')
})
