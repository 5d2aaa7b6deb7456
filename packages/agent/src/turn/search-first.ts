/**
 * Searches documents in place of models that do not search by themselves. `GroundingMemory` knows which models these
 * are, `SearchStrategy` carries it out over the steps of one answer, and `given-results.ts` writes the prompt.
 */
import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import { stripCitations } from '@inlay/protocol'
import { smallTalkOf } from '@inlay/text'
import type { CitableDocuments } from '../citations/citable-documents.ts'
import type { Action } from '../contracts/action.ts'
import type { OpenedTurn, PastMessage, PastToolCall } from '../contracts/conversation-store.ts'
import type { ResolvedModel } from '../contracts/model.ts'
import type { StepRequest, StepResult, TextHold } from '../model/step-output.ts'
import { demandWords, isAnswer, isMade, madePrefix, withGivenResults, withoutLeadingMarkers } from './given-results.ts'

/**
 * How an answer gets documents:
 *
 * - `tools`: the model calls the search
 * - `probe`: the same, but its text is held back until it calls a tool; without a call, Inlay searches for it and
 *   continues as with `given`
 * - `follow-up`: the same as `probe` for a model that is known to call tools; continues as with `search-first`
 * - `search-first`: Inlay searches before the first step, and the model may search again
 * - `given`: Inlay searches before the first step and puts the results into the question; no search is offered
 * - `none`: the first message asks nothing of documents; no search is offered
 */
export type AnswerGrounding = 'tools' | 'probe' | 'follow-up' | 'search-first' | 'given' | 'none'

/**
 * The place of a question in its conversation:
 *
 * - `first`: no earlier search can answer it
 * - `follow-up`: it follows an answer from documents, whose text the model remembers and whose results it does not
 */
type QuestionPlace = 'first' | 'follow-up' | 'other'

// A server may get a better model while it runs, and one answer without a search proves little.
const answersUntilProbed = 25
// Weak models call a tool now and then.
const callsUntilTrusted = 3
// First questions in a row that a trusted model may answer without a search.
const missesUntilProbed = 5
const maxModels = 1_000

interface ModelRecord {
  /** Answers for which Inlay still searches; with the last one the model is probed again. */
  given: number
  /** Probes in which it called a tool, less those in which it did not. */
  calls: number
  /** Consecutive first questions that it answered without a search since it is trusted. */
  misses: number
}

/** Remembers which models search by themselves. */
export class GroundingMemory {
  readonly #records = new Map<string, ModelRecord>()

  /** @param place only first questions show whether a model searches by itself */
  of(
    { provider, name, grounding = 'auto', observed, callsTools = true, quotesOnly = false }: ResolvedModel,
    place: QuestionPlace,
  ): AnswerGrounding {
    if (observed?.refusesTools && grounding !== 'tools') return 'given'
    // A model that is not known to call tools talks about searching when it is offered a search together with results.
    if (grounding === 'search-first' && !callsTools) return 'given'
    if (grounding !== 'auto') return grounding
    if (callsTools) return place === 'follow-up' && !quotesOnly ? 'follow-up' : 'tools'
    const record = this.#records.get(`${provider} ${name}`)
    if (record && record.given > 1) {
      record.given--
      return 'given'
    }
    if (record?.given === 1) return place === 'first' ? 'probe' : 'given'
    const isTrusted = place !== 'first' || record?.calls === callsUntilTrusted
    return place === 'follow-up' || !isTrusted ? 'probe' : 'tools'
  }

  /** Records whether a model called a tool for a first question. */
  note({ provider, name }: ResolvedModel, hasCalled: boolean): void {
    if (this.#records.size >= maxModels) this.#records.clear()
    const { calls, misses } = this.#records.get(`${provider} ${name}`) ?? { calls: 0, misses: 0 }
    const isExcused = calls === callsUntilTrusted && misses + 1 < missesUntilProbed
    this.#records.set(`${provider} ${name}`, {
      given: hasCalled || calls > 0 ? 0 : answersUntilProbed,
      calls: hasCalled ? Math.min(calls + 1, callsUntilTrusted) : isExcused ? calls : Math.max(0, calls - 1),
      misses: !hasCalled && isExcused ? misses + 1 : 0,
    })
  }
}

// Small talk in between does not count.
const answersRemembered = 3

function placeOf({ userText, files, messages }: Opened, search: Action, includeCitations: boolean): QuestionPlace {
  // Questions about files are answered from these.
  if (userText.trim() === '' || files.length > 0) return 'other'
  const isSearched = ({ name }: PastToolCall): boolean => name === search.name
  const isOwn = (call: PastToolCall): boolean => isSearched(call) && !isMade(call.callId)
  // A search made for a question that was not about documents leaves no citation.
  const isGrounded = ({ text, toolCalls }: PastMessage): boolean =>
    toolCalls.some(isOwn) || (includeCitations ? stripCitations(text) !== text : toolCalls.some(isSearched))
  const answers = messages.filter(({ role }) => role === 'assistant')
  if (answers.slice(-answersRemembered).some(isGrounded)) return 'follow-up'
  return answers.some(({ toolCalls }) => toolCalls.some(isOwn)) ? 'other' : 'first'
}

/**
 * Whether a message asks nothing of documents, so that nothing is searched in place of the model. "OK" does when it may
 * reply to a question, and "help" behind any answer.
 */
function isSmallTalk({ userText, files, messages }: Opened): boolean {
  const kind = files.length > 0 ? undefined : smallTalkOf(userText)
  const last = messages.at(-1)?.text
  if (kind === undefined || last === undefined) return kind !== undefined
  const mayReply = kind === 'acknowledgement' || kind === 'empty'
  return kind !== 'help' && !(mayReply && /[?？؟]/.test(last))
}

const isSearch = ({ builtIn }: Action): boolean => builtIn === 'SearchTool'

/** Actions that find something to answer from. */
const searchKinds = new Set(['SearchTool', 'WebSearchTool', 'OpenURLTool'])

const withoutSearches = (actions: readonly Action[]): readonly Action[] =>
  actions.filter(({ builtIn }) => !searchKinds.has(builtIn ?? ''))

/** Actions that a small model may call in addition to given results. */
export const besideResults = (actions: readonly Action[]): readonly Action[] =>
  withoutSearches(actions).filter(({ builtIn }) => builtIn !== 'MemoryTool')

/** Text of a probed model this long means that it will not call a tool any more. */
const maxProbeLength = 160

const untilCall: TextHold = {
  judge: (text) => (text.length > maxProbeLength ? 'stop' : 'hold'),
  isShownBy: () => true,
  allowsEmpty: true,
}

const untilAnswer = (isResult: (number: number) => boolean): TextHold => ({
  judge: (text) => (isAnswer(text, isResult) ? 'show' : 'hold'),
  change: withoutLeadingMarkers,
  isShownBy: () => false,
  allowsEmpty: false,
})

type Opened = Pick<OpenedTurn, 'userText' | 'files' | 'messages'>

export interface SearchStrategyOptions {
  readonly memory: GroundingMemory
  readonly model: ResolvedModel
  readonly actions: readonly Action[]
  readonly opened: Opened
  /** Whether the request names an action to call. */
  readonly isForced: boolean
  /** The question to search for. */
  readonly question: string
  readonly includeCitations: boolean
  readonly citable: Pick<CitableDocuments, 'completesCitations' | 'known'>
}

/** Gets documents to the model over the steps of one answer. */
export class SearchStrategy {
  readonly grounding: AnswerGrounding
  /** Whether the message is small talk. */
  readonly isTalk: boolean
  /** Whether the results are part of the question; the model is then offered no search. */
  isGiven = false
  /** Whether the model gets anything of an attached file. */
  hasFiles = false
  /** Instructions of the prompt, and those that replace them once results are given. */
  instructions?: { readonly own: string; readonly given: string }
  readonly #options: SearchStrategyOptions
  /** Whether the first step tells something about the model. */
  readonly #isTelling: boolean

  constructor(options: SearchStrategyOptions) {
    const { memory, model, actions, opened, isForced, includeCitations } = options
    this.#options = options
    const search = actions.find(isSearch)
    const place = search ? placeOf(opened, search, includeCitations) : 'other'
    const isTalk = !isForced && model.grounding !== 'tools' && isSmallTalk(opened)
    const isUnknown = model.callsTools === false && (model.grounding ?? 'auto') === 'auto'
    this.#isTelling = isUnknown && !isTalk && place === 'first'
    this.isTalk = isTalk
    const needsNoSearch = isTalk || !search
    this.grounding = isTalk && opened.messages.length === 0 ? 'none' : needsNoSearch ? 'tools' : memory.of(model, place)
  }

  /** Actions that the prompt describes. */
  describedActions(actions: readonly Action[]): readonly Action[] {
    if (this.grounding === 'given') return besideResults(actions)
    return this.grounding === 'none' ? withoutSearches(actions) : actions
  }

  /** Actions that the model may call in the coming step. */
  offered(actions: readonly Action[]): readonly Action[] {
    if (this.isGiven) return besideResults(actions)
    return this.grounding === 'none' ? withoutSearches(actions) : actions
  }

  /** A search in place of the first step; undefined when the model plays that step. */
  firstStep(offered: readonly Action[]): StepResult | undefined {
    return this.grounding === 'given' || this.grounding === 'search-first' ? this.search(offered) : undefined
  }

  /** A step that searches for the question; undefined when no documents can be searched. */
  search(offered: readonly Action[]): StepResult | undefined {
    const { question, citable } = this.#options
    const search = offered.find(isSearch)
    if (!search || question.trim() === '') return undefined
    this.isGiven = this.grounding !== 'search-first' && this.grounding !== 'follow-up'
    citable.completesCitations = true
    return {
      content: [],
      // Providers refuse a conversation in which two calls have the same id.
      calls: [
        {
          id: `${madePrefix}-${crypto.randomUUID().slice(0, 8)}`,
          name: search.name,
          input: JSON.stringify({ queries: [question] }),
        },
      ],
      finishReason: { unified: 'tool-calls', raw: undefined },
      usage: noTokens,
    }
  }

  /** Changes the request of a step. @param isFree whether it is the first step, and no action is forced */
  adapt(
    isFree: boolean,
    offered: readonly Action[],
  ): Pick<StepRequest, 'hold' | 'askAgain' | 'rewrite' | 'endsRepetition'> {
    if (this.isGiven) {
      const { includeCitations, citable } = this.#options
      const isResult = (number: number): boolean => citable.known(number) !== undefined
      return {
        hold: untilAnswer(isResult),
        endsRepetition: true,
        askAgain: (text) => (isAnswer(text, isResult) ? undefined : demandWords(includeCitations)),
        rewrite: (prompt) =>
          withGivenResults(this.#withInstructions(prompt), { includeCitations, hasFiles: this.hasFiles }),
      }
    }
    const canSearch = this.#options.question.trim() !== '' && offered.some(isSearch)
    return this.#isHeld && isFree && canSearch ? { hold: untilCall } : {}
  }

  /** The prompt of a probe asks for calls of a search that is not offered any more. */
  #withInstructions(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
    const [system, ...others] = prompt
    if (!this.instructions || system?.role !== 'system') return prompt
    const { own, given } = this.instructions
    if (!system.content.startsWith(own)) return prompt
    return [{ ...system, content: given + system.content.slice(own.length) }, ...others]
  }

  /** Learns from a first step in which no action was forced; returns a search where the model had to make one. */
  judge({ calls }: StepResult, offered: readonly Action[]): StepResult | undefined {
    if (this.isGiven) return undefined
    const { memory, model } = this.#options
    const hasCalled = calls.length > 0
    if (this.#isTelling) memory.note(model, hasCalled)
    return this.#isHeld && !hasCalled ? this.search(offered) : undefined
  }

  /** Whether the text of the first step is held back until it calls a tool. */
  get #isHeld(): boolean {
    return this.grounding === 'probe' || this.grounding === 'follow-up'
  }

  /** The model only repeats the search: it reads the results better in its question than as results of calls. */
  noteRepeatedSearch(): void {
    if (this.grounding === 'search-first' || this.grounding === 'follow-up') this.isGiven = true
  }
}

const noTokens = {
  inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 0, text: 0, reasoning: 0 },
}
