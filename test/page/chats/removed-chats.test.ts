import { expect, onTestFinished, test } from 'vitest'
import { useChats } from '../../../packages/page/src/chats/chats.ts'
import type { ListedChat } from '../../../packages/page/src/service/service.ts'
import { runHook } from '../hook.ts'

test('a removed chat stays hidden while others are removed and the listing is not read again yet', async () => {
  const all = ['one', 'two', 'three'].map((id): ListedChat => ({ id, name: id, time: '2026-01-01', isPinned: false }))
  let reads = 0
  const service = {
    chats: () => (reads++ === 0 ? Promise.resolve({ chats: all, next: null }) : new Promise(() => {})),
    removeChat: () => Promise.resolve(),
    restoreChat: () => Promise.resolve(),
  } as never
  const { latest: chats, stop } = runHook(() => useChats(service, () => {}))
  onTestFinished(stop)
  const shown = () => chats().all?.map(({ id }) => id)
  const wait = { timeout: 10_000 }
  await expect.poll(shown, wait).toEqual(['one', 'two', 'three'])
  chats().remove(all.slice(0, 1))
  await expect.poll(shown, wait).toEqual(['two', 'three'])
  chats().remove(all.slice(1, 2))
  await expect.poll(() => chats().removed, wait).toEqual(all.slice(1, 2))
  expect(shown()).toEqual(['three'])
  chats().undo()
  await expect.poll(shown, wait).toEqual(['two', 'three'])
})
