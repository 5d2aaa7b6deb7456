import type { Actions } from '../actions.ts'
import { promptLimit, promptTokens } from '../context-window.ts'
import type { ModelProvider, ResolvedModel } from '../contracts.ts'
import { readTree } from '../conversations.ts'
import { toPrompt } from '../history.ts'
import { toMainline } from '../message-tree.ts'
import { toInstructions } from '../prompt.ts'
import type { AgentDatabase } from '../records.ts'
import { readBranch, type BranchHistory } from '../summaries.ts'
import type { SurroundingsFinder } from '../surroundings.ts'
import type { Sessions } from './contracts.ts'
import { chooseModel } from './model-choice.ts'
import { ownSession } from './ownership.ts'
import { pinnedModel } from './settings.ts'

/** What the counting of tokens is made of. */
export interface TokensOptions {
  readonly db: AgentDatabase
  readonly models: ModelProvider
  readonly actions: Actions
  readonly surroundings: SurroundingsFinder
  readonly systemPrompt: string | undefined
  readonly now: () => number
}

// What a question takes that is asked of documents.
const questionTokens = 2_000

/** Makes the side of sessions that tells how much a prompt can still take. */
export function createTokens(options: TokensOptions): Pick<Sessions, 'freeTokens' | 'documentTokens'> {
  const { db, models, actions, surroundings, systemPrompt, now } = options
  const free = async (
    { contextTokens }: ResolvedModel,
    { messages, summary }: BranchHistory,
    caller: Parameters<Actions['available']>[0],
  ): Promise<number> => {
    const usable = await actions.available(caller)
    const instructions = toInstructions({
      actions: usable,
      time: now(),
      includeCitations: true,
      ...(systemPrompt === undefined ? {} : { systemPrompt }),
    })
    const hasActions = usable.length > 0
    const prompt = toPrompt({
      instructions,
      history: messages,
      summary,
      additionalContext: null,
      userText: '',
      hasActions,
    })
    return Math.max(0, promptLimit(contextTokens, usable) - promptTokens(prompt))
  }
  return {
    freeTokens: async (id, caller) => {
      const row = await ownSession(db, id, caller)
      const session = { modelOverride: pinnedModel(row), temperature: row.temperature }
      const model = await models.resolve(chooseModel(null, session))
      const ids = toMainline(await readTree(db, id)).slice(1)
      return free(model, await readBranch(db, ids, model.contextTokens * 4), caller)
    },
    documentTokens: async (personaId, caller) => {
      await surroundings.check({ persona_id: personaId }, caller)
      return Math.max(
        0,
        (await free(await models.resolve(null), { summary: null, messages: [] }, caller)) - questionTokens,
      )
    },
  }
}
