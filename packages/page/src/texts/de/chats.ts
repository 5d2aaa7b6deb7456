import { plural } from '../locale.ts'
import type { Texts } from '../en/index.ts'

export const chats: Texts['chats'] = {
  lead: 'Was schon gefragt wurde. Ein Chat geht weiter, wo er endete.',
  search: 'Chats durchsuchen',
  none: 'Es wurde noch nichts gefragt.',
  noneFound: 'Kein Chat enthält diese Wörter.',
  name: 'Name des Chats',
  rename: 'Umbenennen',
  renameThing: (name) => `${name} umbenennen`,
  askDelete: (name) => `${name} löschen?`,
  pin: 'Anheften',
  pinThing: (name) => `${name} anheften`,
  unpin: 'Lösen',
  unpinThing: (name) => `${name} lösen`,
  pinned: 'Angeheftet',
  select: 'Auswählen',
  selectThing: (name) => `${name} auswählen`,
  selectAll: 'Alle auswählen',
  done: 'Fertig',
  deleteSelected: (count) => plural(count, { one: '# Chat löschen', other: '# Chats löschen' }),
  deleted: (count) => plural(count, { one: '# Chat gelöscht.', other: '# Chats gelöscht.' }),
}
