import { plural } from '../locale.ts'

export const chats = {
  lead: 'What was asked before. A chat goes on where it ended.',
  search: 'Search chats',
  none: 'Nothing was asked yet.',
  noneFound: 'No chat holds these words.',
  name: 'Name of the chat',
  rename: 'Rename',
  renameThing: (name: string) => `Rename ${name}`,
  askDelete: (name: string) => `Delete ${name}?`,
  pin: 'Pin',
  pinThing: (name: string) => `Pin ${name}`,
  unpin: 'Unpin',
  unpinThing: (name: string) => `Unpin ${name}`,
  pinned: 'Pinned',
  select: 'Select',
  selectThing: (name: string) => `Select ${name}`,
  selectAll: 'Select all',
  done: 'Done',
  deleteSelected: (count: number) => plural(count, { one: 'Delete # chat', other: 'Delete # chats' }),
  deleted: (count: number) => plural(count, { one: '# chat deleted.', other: '# chats deleted.' }),
}
