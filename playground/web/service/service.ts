import type { LocalModelChange, LocalModels } from '@inlay/protocol/administration'
import type { ChatSessionDetail, DocMinimalInfo, DocumentStateName, StreamLine } from '@inlay/protocol'

/** The model that answers, as the page shows it. */
export interface AnsweringModel {
  readonly name: string
  /** Whether it can do deep research. */
  readonly canResearch: boolean
}

/** What the page needs of an Inlay service; everything rejects with an error that `toFailure` puts into words. */
export interface Service {
  /** Asks, and gives the lines of the answer as they come. Leaving the loop does not stop the run; `stop` does. */
  ask(question: Question, options: AskOptions): AsyncIterable<StreamLine>
  /** The lines of the newest answer of a conversation, from the first. */
  follow(sessionId: string, signal: AbortSignal): AsyncIterable<StreamLine>
  stop(sessionId: string): Promise<void>
  /** Who can answer a conversation; the assistant itself is the first. */
  agents(): Promise<readonly ListedAgent[]>
  /** A stored conversation. */
  chat(sessionId: string): Promise<ChatSessionDetail>
  /** A page of conversations, newest first; with words those that hold them. `before`: `next` of the page before. */
  chats(words: string, before: string | null): Promise<{ chats: readonly ListedChat[]; next: string | null }>
  /** @param name null: one is found from what was said */
  rename(sessionId: string, name: string | null): Promise<void>
  removeChat(sessionId: string): Promise<void>
  /** Takes a file for a question. */
  upload(file: File): Promise<SentFile | { readonly refusal: string }>
  /** A file of the service: one that was sent, or that an action made. */
  file(fileId: string): Promise<File>
  /** A page of documents, the newest first. `after`: `next` of the page before. */
  documents(query: {
    /** 1 to 1000. */
    readonly limit: number
    readonly state?: DocumentStateName
    /** Part of the title or the id. */
    readonly match?: string
    readonly after?: string
    readonly signal?: AbortSignal
  }): Promise<{ documents: readonly DocMinimalInfo[]; next: string | null }>
  /** How many documents are in each state; null where the key may not ask. */
  counts(signal?: AbortSignal): Promise<DocumentCounts | null>
  /** What an operator should know and do; empty when all is well or the key may not ask. */
  notices(signal?: AbortSignal): Promise<readonly string[]>
  /** Why a document failed; null when it did not. */
  failureReason(documentId: string): Promise<string | null>
  /** Markdown of the passage of the document with this title that holds this text; null when it is no longer there. */
  passage(title: string, text: string): Promise<string | null>
  ingest(document: TextDocument): Promise<void>
  /** Makes a document of a file: PDF, Office, HTML, mail, CSV, Markdown or text. */
  ingestFile(file: File, id: string): Promise<void>
  /** Whether there is a document with this id. */
  hasDocument(id: string): Promise<boolean>
  /** Puts failed documents back into the queue: one, or all. */
  requeue(documentId?: string): Promise<void>
  /** What models run on the machine of the server; null where the key may not ask, or the server names its model. */
  localModels(signal?: AbortSignal): Promise<LocalModels | null>
  /** Lets one of them answer, or with null the built-in model; gives what there is then. */
  chooseLocalModel(choice: LocalModelChange['choice']): Promise<LocalModels>
  /** The model that answers, named as what it is. */
  model(): Promise<AnsweringModel>
  /** Whether the project's own documentation is among the documents, and the key may remove it. */
  hasOwnDocumentation(signal: AbortSignal): Promise<boolean>
  removeOwnDocumentation(): Promise<void>
  remove(documentId: string): Promise<void>
}

/** What a person asks. */
export interface Question {
  readonly question: string
  /** Files that go with it. */
  readonly files: readonly SentFile[]
}

/** How a question is asked. */
export interface AskOptions {
  /** The conversation it goes on with; null begins one. */
  readonly sessionId: string | null
  /** A question of the conversation that is answered again; null asks a new one. */
  readonly againId: number | null
  readonly isResearch: boolean
  /** Who answers a new conversation. Default: the assistant itself. */
  readonly agentId?: number | undefined
  readonly signal: AbortSignal
}

/** A file as a question names it. */
export interface SentFile {
  readonly id: string
  readonly name: string
}

/** An agent that can answer. */
export interface ListedAgent {
  readonly id: number
  readonly name: string
  readonly description: string
}

/** A conversation in the listing. */
export interface ListedChat {
  readonly id: string
  /** "" until it was named. */
  readonly name: string
  /** ISO 8601: of its last message, or, when it was found by words, of its beginning. */
  readonly time: string
}

/** Documents by state. */
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
}
