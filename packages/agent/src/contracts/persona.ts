import type { Principal } from '@inlay/protocol'
import type { Grounding } from './model.ts'
import type { HostAgent } from './responder.ts'

/** The assistant in a role, as far as a turn needs it. */
export interface Persona {
  /** 0: the default one. */
  readonly id: number
  /** Stands beside the built-in instructions, or instead of them. */
  readonly systemPrompt: string
  readonly replacesBasePrompt: boolean
  /** Said again after the conversation, before each answer. */
  readonly taskPrompt: string
  /** Whether the model is told the date. */
  readonly isDatetimeAware: boolean
  /** Null: every action that needs no grant. */
  readonly actionIds: readonly number[] | null
  /** Searches are narrowed to these document sets; empty: they are not. */
  readonly documentSetIds: readonly number[]
  /** Null: the default model. */
  readonly model: { readonly provider: string; readonly name: string } | null
  /** How its model comes by documents. Default, also for null: as the model is set. */
  readonly grounding?: Grounding | null | undefined
  /** Whether what its model leaves uncited is compared with what it read. Default, also for null: as the model is set. */
  readonly comparesCitations?: boolean | null | undefined
  /** Documents older than this are not searched; ISO 8601 with `Z`. */
  readonly searchStartDate: string | null
  /** Files it always has, by their own ids. */
  readonly fileIds: readonly string[]
  /** Answers in place of Inlay's own loop. Default: nobody does. */
  readonly hostAgent?: HostAgent
}

/** Finds the persona of a turn. */
export interface PersonaLookup {
  /** PERSONA_NOT_FOUND for one that is unknown, removed or not open to the caller. */
  get(id: number, caller: Principal): Promise<Persona>
}

/** The persona of chats that name none: all actions, all documents, the default model, no prompt of its own. */
export const defaultPersona: Persona = {
  id: 0,
  systemPrompt: '',
  replacesBasePrompt: false,
  taskPrompt: '',
  isDatetimeAware: true,
  actionIds: null,
  documentSetIds: [],
  model: null,
  searchStartDate: null,
  fileIds: [],
}

/** Files and instructions for some chats of one caller. */
export interface Project {
  readonly id: number
  /** Null when it has none. */
  readonly instructions: string | null
  /** Its files by their own ids, in the order in which they were linked. */
  readonly fileIds: readonly string[]
}

/** Finds the project of a turn. */
export interface ProjectLookup {
  /** NOT_FOUND for one that is unknown or somebody else's. */
  get(id: number, caller: Principal): Promise<Project>
}
