import type { Client } from '@inlay/client'
import type { ConversationService, SentFile } from '@inlay/client/conversation'
import type { LocalModelChange, LocalModels } from '@inlay/protocol/administration'
import type {
  ChatSessionDetail,
  DocMinimalInfo,
  DocumentChunksView,
  DocumentOrder,
  DocumentStateName,
  MinimalPersona,
  SearchResult,
} from '@inlay/protocol'

/** The model that answers, as the page shows it. */
export interface AnsweringModel {
  readonly name: string
  /** Whether it can do deep research. */
  readonly canResearch: boolean
  /** All that an answer can be asked of. */
  readonly all: readonly ListedModel[]
}

/** The Inlay service as the page uses it. Rejects with errors that `toFailure` puts into words. */
export interface Service extends ConversationService<AskHow> {
  /** A shared conversation of anybody, in the form that others see. */
  sharedChat(sessionId: string, signal: AbortSignal): Promise<ChatSessionDetail>
  /** Makes a conversation readable for everybody who knows its id, or private again. */
  share(sessionId: string, isShared: boolean): Promise<void>
  /**
   * A page of conversations: pinned ones first, then the newest; with words those that hold them, newest first.
   * `before`: `next` of the page before.
   */
  chats(words: string, before: string | null): Promise<ChatListing>
  /** @param name null: generated from the conversation */
  rename(sessionId: string, name: string | null): Promise<void>
  removeChat(sessionId: string): Promise<void>
  /** Takes back that a conversation was removed. */
  restoreChat(sessionId: string): Promise<void>
  setPinned(sessionId: string, isPinned: boolean): Promise<void>
  /** Projects of the person, with the chats in them. */
  readonly projects: Client['projects']
  /** Takes a file for a project. @throws INVALID_INPUT with the reason */
  uploadTo(projectId: number, file: File): Promise<void>
  /** Takes a file for a question. */
  upload(file: File): Promise<SentFile | { readonly refusal: string }>
  /** A stored file, uploaded or created by an action. */
  file(fileId: string): Promise<File>
  /** A page of documents, the newest first unless another order is named. `after`: `next` of the page before. */
  documents(query: {
    /** 1 to 1000. */
    readonly limit: number
    readonly order?: DocumentOrder
    /** Whether to include size, times, tags and reason. Default true. */
    readonly details?: boolean
    readonly state?: DocumentStateName
    /** Part of the title or the id. */
    readonly match?: string
    /** Id of a document set. */
    readonly documentSet?: number
    /** `key=value`, with `%` and `=` in the key percent-encoded. */
    readonly tag?: string
    readonly after?: string
    readonly signal?: AbortSignal
  }): Promise<{ documents: readonly DocMinimalInfo[]; next: string | null }>
  /** How many documents are in each state; null if the key lacks the permission. */
  counts(signal?: AbortSignal): Promise<DocumentCounts | null>
  /** Notices for the operator; empty when there are none or the key may not read them. */
  notices(signal?: AbortSignal): Promise<readonly string[]>
  /** Names of the document sets, by id. */
  documentSets(signal: AbortSignal): Promise<readonly { readonly id: number; readonly name: string }[]>
  /** Markdown of the passage of the document with this title that holds this text; null when it is no longer there. */
  passage(title: string, text: string): Promise<string | null>
  /** Consecutive chunks of a document. @param limit 1 to 64 */
  documentChunks(documentId: string, first: number, limit: number): Promise<DocumentChunksView>
  /** Passages that a text finds, best first; no model is asked for other words. */
  search(text: string, signal: AbortSignal): Promise<readonly SearchResult[]>
  /** Sources, document sets, and tags that hold these words. */
  filterValues(tagWords: string, signal: AbortSignal): Promise<FilterValues>
  ingest(document: TextDocument): Promise<void>
  /** Makes a document of a file: PDF, Office, HTML, mail, CSV, Markdown or text. */
  ingestFile(file: File, id: string): Promise<void>
  hasDocument(id: string): Promise<boolean>
  /** Puts failed documents back into the queue: one, or all. @returns how many */
  requeue(documentId?: string): Promise<number>
  /** Models that run on the machine of the server; null if the key may not read them, or the server has a fixed model. */
  localModels(signal?: AbortSignal): Promise<LocalModels | null>
  /** Selects one of them, or with null the built-in model; returns the new state. */
  chooseLocalModel(choice: LocalModelChange['choice']): Promise<LocalModels>
  /** The model that answers, named as what it is. */
  model(): Promise<AnsweringModel>
  /** Agents that can answer; the first is the assistant itself. */
  agents(): Promise<readonly MinimalPersona[]>
  /** Whether the project's own documentation is among the documents, and the key may remove it. */
  hasOwnDocumentation(signal: AbortSignal): Promise<boolean>
  removeOwnDocumentation(): Promise<void>
  remove(documentId: string): Promise<void>
  /** Sets tags of a document by their keys, and removes those that are null; it is indexed again. */
  changeTags(documentId: string, change: Readonly<Record<string, readonly string[] | null>>): Promise<void>
}

/** Settings for questions; null and empty lists leave the choice to the service. */
export interface AnswerSettings {
  readonly modelId: number | null
  /** A second model that answers in parallel. */
  readonly secondModelId: number | null
  /** 0 to 2. */
  readonly temperature: number | null
  readonly effort: string | null
  readonly allowedTools: readonly number[] | null
  readonly forcedTool: number | null
  readonly filters: AnswerFilters
}

export interface FilterValues {
  readonly sources: readonly string[]
  readonly sets: readonly string[]
  readonly tags: AnswerFilters['tags']
}

export interface AnswerFilters {
  readonly sources: readonly string[]
  readonly sets: readonly string[]
  readonly tags: readonly { readonly key: string; readonly value: string }[]
  /** Only documents changed within so many days. */
  readonly days: number | null
}

export const defaultSettings: AnswerSettings = {
  modelId: null,
  secondModelId: null,
  temperature: null,
  effort: null,
  allowedTools: null,
  forcedTool: null,
  filters: { sources: [], sets: [], tags: [], days: null },
}

export interface AskHow {
  readonly isResearch: boolean
  /** The agent that answers a new conversation. Default: the assistant itself. */
  readonly agentId?: number | undefined
  /** The project that a new conversation belongs to. Default: none. */
  readonly projectId?: number | undefined
  readonly settings: AnswerSettings
}

/** A project, with the ids of the conversations in it. */
export interface ListedProject {
  readonly id: number
  readonly name: string
  readonly chatIds: readonly string[]
}

export interface AgentAction {
  readonly id: number
  readonly name: string
}

export interface ListedModel {
  readonly id: number
  readonly name: string
  /** Empty: it has no such setting. */
  readonly efforts: readonly string[]
  readonly isDefault: boolean
  /** Whether the temperature has an effect. */
  readonly hasTemperature: boolean
}

export interface ChatListing {
  readonly chats: readonly ListedChat[]
  /** Names the next page; null on the last. */
  readonly next: string | null
}

export interface ListedChat {
  readonly id: string
  /** "" until it was named. */
  readonly name: string
  /** ISO 8601: of its last message, or, when it was found by words, of its beginning. */
  readonly time: string
  readonly isPinned: boolean
  /** The message that holds the words, and the text around them; absent where nothing was searched, or the name has them. */
  readonly match?: { readonly messageId: number; readonly text: string }
}

export type DocumentCounts = Readonly<Record<DocumentStateName, number>>

/** A text a person hands in. */
export interface TextDocument {
  /** The same id again replaces the document. */
  readonly id: string
  readonly title: string
  readonly text: string
}

/** A document in the listing, with the reason once it is known. */
export interface ListedDocument {
  readonly id: string
  readonly title: string
  readonly link: string
  readonly state: DocumentStateName
  readonly reason: string | null
  /** Size of the text as stored; undefined if the server does not report it. */
  readonly bytes: number | undefined
  readonly acceptedAt: Date | undefined
  readonly pairIds: readonly number[]
  readonly tags: readonly { readonly tag_key: string; readonly tag_value: string }[]
}
