import type { LlmOverride, Principal } from '@inlay/protocol'
import type { Actions } from '../tools/registry.ts'
import { promptLimit, promptTokens } from '../prompt/context-window.ts'
import type { ModelProvider } from '../contracts.ts'
import { readTree } from './conversations.ts'
import { toMainline } from './message-tree.ts'
import { withPersonaModel } from '../prompt/persona-model.ts'
import type { AgentDatabase } from '../records/tables.ts'
import { readBranch, type BranchHistory } from '../prompt/summaries.ts'
import type { SurroundingsFinder } from '../turn/turn-context.ts'
import { makeTurnPrompt } from '../prompt/turn-prompt.ts'
import type { Sessions } from './contracts.ts'
import { chooseModel } from '../turn/model-choice.ts'
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

/** Where a next message would be sent. */
interface NextMessage {
  readonly personaId: number
  readonly projectId: number | null
  readonly sessionId?: string
  readonly override: LlmOverride | null
  /** What was said before, as far as a window of that many tokens holds it. */
  readonly history: (contextTokens: number) => Promise<BranchHistory>
}

// What a question takes that is asked of documents.
const questionTokens = 2_000

/** Makes the side of sessions that tells how much a prompt can still take. */
export function createTokens(options: TokensOptions): Pick<Sessions, 'freeTokens' | 'documentTokens'> {
  const { db } = options
  return {
    freeTokens: async (id, caller) => {
      const row = await ownSession(db, id, caller)
      const ids = toMainline(await readTree(db, id)).slice(1)
      const next = {
        personaId: row.persona_id,
        projectId: row.project_id,
        sessionId: id,
        override: chooseModel(null, { modelOverride: pinnedModel(row), temperature: row.temperature }),
        history: (contextTokens: number) => readBranch(db, ids, contextTokens * 4),
      }
      return countFree(next, caller, options)
    },
    documentTokens: async (personaId, caller) => {
      const history = async (): Promise<BranchHistory> => ({ summary: null, summaryFiles: [], messages: [] })
      const free = await countFree({ personaId, projectId: null, override: null, history }, caller, options)
      return Math.max(0, free - questionTokens)
    },
  }
}

/** What is left of the prompt of an empty message: made like any other, so that nothing is forgotten. */
async function countFree(next: NextMessage, caller: Principal, options: TokensOptions): Promise<number> {
  const { models, actions, surroundings: finder, systemPrompt, now } = options
  const { personaId, projectId, sessionId } = next
  const around = await finder.find({ personaId, projectId, sessionId, descriptors: [], filters: null, caller })
  const model = await models.resolve(withPersonaModel(next.override, around.persona))
  const context = await around.weigh({ contextTokens: model.contextTokens, userText: '' })
  const usable = around.offer(await actions.available({ caller }), context)
  const { messages, ...branch } = await next.history(model.contextTokens)
  const prompt = await makeTurnPrompt(
    {
      finder,
      around,
      context,
      opened: { ...branch, history: messages, userText: '', files: [] },
      request: { additional_context: null, include_citations: true },
      model,
      actions: usable,
      systemPrompt,
      time: now(),
    },
    AbortSignal.timeout(60_000),
  )
  return Math.max(0, promptLimit(model.contextTokens, usable) - promptTokens(prompt))
}
