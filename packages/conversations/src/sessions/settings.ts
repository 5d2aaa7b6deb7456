import { InlayError, type LlmOverride } from '@inlay/protocol'
import type { Selectable, Updateable } from 'kysely'
import { reasoningEfforts, type ModelListing, type ModelProvider } from '@inlay/agent'
import type { ConversationDatabase } from '../tables/database.ts'
import type { SessionTable } from '../tables/chat-tables.ts'
import { ownSession } from './session-access.ts'
import type { Sessions } from './stored-session.ts'

export function createSettings(
  db: ConversationDatabase,
  models: ModelProvider,
): Pick<Sessions, 'share' | 'pinModel' | 'setTemperature' | 'setReasoningEffort'> {
  const set = async (id: string, values: Updateable<SessionTable>): Promise<void> => {
    await db.updateTable('inlay_chat_sessions').set(values).where('id', '=', id).execute()
  }
  return {
    share: async (id, sharing, caller) => {
      await ownSession(db, id, caller)
      await set(id, { is_public: sharing === 'public' ? 1 : 0 })
    },
    pinModel: async (id, model, caller) => {
      const { temperature } = await ownSession(db, id, caller)
      const name = model?.trim() ?? ''
      if (name === '') return set(id, { alternate_model: null, model_override: null })
      const override = readPinnedModel(name, await models.list())
      await models.resolve({ ...override, temperature })
      await set(id, { alternate_model: name, model_override: JSON.stringify(override) })
    },
    setTemperature: async (id, temperature, caller) => {
      const row = await ownSession(db, id, caller)
      if (temperature !== null) {
        if (temperature < 0 || temperature > 2) {
          throw new InlayError('VALIDATION_ERROR', { message: 'A temperature has to be between 0 and 2.' })
        }
        // Some models take less.
        await models.resolve({ ...pinnedModel(row), temperature })
      }
      await set(id, { temperature })
    },
    setReasoningEffort: async (id, effort, caller) => {
      await ownSession(db, id, caller)
      if (effort !== null && !reasoningEfforts.includes(effort)) {
        throw new InlayError('INVALID_INPUT', {
          message: `A reasoning effort is null or one of ${reasoningEfforts.join(', ')}.`,
        })
      }
      await set(id, { reasoning_effort: effort })
    },
  }
}

export function pinnedModel(row: Selectable<SessionTable>): LlmOverride | null {
  // Written by us from a checked override.
  return row.model_override === null ? null : (JSON.parse(row.model_override) as LlmOverride)
}

/** Reads what a session is to be pinned to: a name of the listing, or `provider__type__model`. */
function readPinnedModel(model: string, listing: readonly ModelListing[]): LlmOverride {
  const named = listing.filter(({ name }) => name === model)
  const known = named.find(({ isDefault }) => isDefault) ?? named[0]
  if (known) return { model_provider: known.provider, model_version: known.name }
  const [provider = '', type, ...rest] = model.split('__')
  return type !== undefined && rest.length > 0
    ? { model_provider: provider, model_version: rest.join('__') }
    : { model_version: model }
}
