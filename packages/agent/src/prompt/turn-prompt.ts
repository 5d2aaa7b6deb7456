import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { SendMessageRequest } from '@inlay/protocol'
import type { ContextFiles } from './context-files.ts'
import type { Action, ResolvedModel } from '../contracts.ts'
import type { OpenedTurn } from '../sessions/conversations.ts'
import { toPrompt } from './history.ts'
import { toPersonMessages } from './memory-prompt.ts'
import { toInstructions } from './instructions.ts'
import { toMessagesBefore, type Surroundings, type SurroundingsFinder } from '../turn/turn-context.ts'

/** What the prompt of an answer is made of. */
export interface TurnPromptOptions {
  readonly finder: SurroundingsFinder
  readonly around: Surroundings
  readonly context: ContextFiles
  readonly opened: Pick<OpenedTurn, 'history' | 'summary' | 'summaryFiles' | 'userText' | 'files'>
  readonly request: Pick<SendMessageRequest, 'additional_context' | 'include_citations'>
  readonly model: ResolvedModel
  readonly actions: readonly Action[]
  /** Replaces the built-in instructions. */
  readonly systemPrompt: string | undefined
  /** Milliseconds since 1970 UTC. */
  readonly time: number
}

/** Makes the prompt of one answer; waits until the files in it are read. */
export async function makeTurnPrompt(options: TurnPromptOptions, signal: AbortSignal): Promise<LanguageModelV4Prompt> {
  const { finder, around, context, opened, request, model, actions, systemPrompt, time } = options
  const { persona } = around
  const { takesImages, contextTokens } = model
  const earlier = opened.history.map(({ files }) => files).toReversed()
  const messages = [opened.files, ...earlier, opened.summaryFiles]
  const attachments = await finder.attachments({ messages, takesImages, contextTokens, signal })
  const contextImages = takesImages ? await finder.images(context) : []
  // A model that only quotes would take what is known about the person for something to quote.
  const person = model.quotesOnly ? [] : toPersonMessages(await around.person(), personTokens(contextTokens))
  const ownPrompt = persona.replacesBasePrompt ? persona.systemPrompt : systemPrompt
  return toPrompt({
    instructions: toInstructions({
      actions,
      time,
      includeCitations: request.include_citations,
      isDatetimeAware: persona.isDatetimeAware,
      hasContextFiles: context.kind === 'in-prompt' && context.documents.length > 0,
      ...(ownPrompt === undefined ? {} : { systemPrompt: ownPrompt }),
    }),
    history: opened.history,
    summary: opened.summary,
    summaryFiles: opened.summaryFiles,
    attachments,
    before: [...person, ...toMessagesBefore(around, context)],
    contextImages,
    additionalContext: request.additional_context,
    userText: opened.userText,
    userFiles: opened.files,
    hasActions: actions.length > 0,
  })
}

/** Most tokens of memories in a prompt. */
function personTokens(contextTokens: number): number {
  return Math.min(4_000, contextTokens / 10)
}
