import type { PersonaTable } from '../tables/library-tables.ts'
import { defaultPersona } from '@inlay/agent'
import type { Selectable } from 'kysely'

import type { StoredPersona, PersonaSettings } from './contracts.ts'

/** The agent of chats that name none: all actions, all documents, the default model, no prompt of its own. */
export const defaultStoredPersona: StoredPersona = {
  ...defaultPersona,
  ownerId: null,
  ownerEmail: null,
  name: 'Assistant',
  description: 'Answers from the documents of the organisation.',
  isPublic: true,
  isDeleted: false,
  starterMessages: null,
  users: [],
  groups: [],
  iconName: null,
  pictureId: null,
  displayPriority: null,
  isListed: true,
  isFeatured: true,
}

export function toPersona(row: Selectable<PersonaTable>): StoredPersona {
  // Written by this folder alone, from checked fields.
  const settings = JSON.parse(row.settings) as PersonaSettings
  return {
    ...settings,
    id: row.id,
    ownerId: row.owner_id,
    ownerEmail: row.owner_email,
    name: row.name,
    description: row.description,
    isPublic: row.is_public === 1,
    isDeleted: row.deleted_at !== null,
  }
}

export function toColumns(
  persona: StoredPersona,
): Pick<PersonaTable, 'name' | 'description' | 'is_public' | 'settings'> {
  const { id: _, ownerId: __, ownerEmail: ___, isDeleted: ____, name, description, isPublic, ...settings } = persona
  return {
    name,
    description,
    is_public: isPublic ? 1 : 0,
    settings: JSON.stringify(settings satisfies PersonaSettings),
  }
}
