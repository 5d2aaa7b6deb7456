import type { Principal } from '@inlay/protocol'
import type { ToolApprovalPolicy } from './action.ts'
import type { Instructions } from './coming-turn.ts'
import type { Grounding } from './model.ts'
import type { HostAgent } from './responder.ts'

/** A persona as a turn uses it. */
export interface Persona {
  /** 0 is the default one. */
  readonly id: number
  /** Added to the built-in instructions, or replacing them. */
  readonly systemPrompt: string
  readonly replacesBasePrompt: boolean
  /** Repeated after the conversation, before each answer. */
  readonly taskPrompt: string
  /** Whether the model is told the date. */
  readonly isDatetimeAware: boolean
  /** Null: every action that needs no grant. */
  readonly actionIds: readonly number[] | null
  /** Document sets that searches are narrowed to; empty for no narrowing. */
  readonly documentSetIds: readonly number[]
  /** Null: the default model. */
  readonly model: { readonly provider: string; readonly name: string } | null
  /** How its model gets documents. Default, also for null: the setting of the model. */
  readonly grounding?: Grounding | null | undefined
  /**
   * Whether citations and uncited sentences are compared with the documents the model read. Default, also for null: the setting of
   * the model.
   */
  readonly comparesCitations?: boolean | null | undefined
  /** Which calls a person has to approve, if stricter than the setting of the deployment. Default, also for null: that. */
  readonly toolApproval?: ToolApprovalPolicy | null | undefined
  /** Documents older than this are not searched; ISO 8601 with `Z`. */
  readonly searchStartDate: string | null
  /** Files that every chat has, by their own ids. */
  readonly fileIds: readonly string[]
  /** Answers in place of Inlay's own loop. Default: none. */
  readonly hostAgent?: HostAgent
  /** Writes `systemPrompt` for each message. Default: it is always the same. */
  readonly instructions?: Instructions
  /** Names of the actions it is offered. Default: those of `actionIds`. */
  readonly actionNames?: readonly string[]
}

/** Finds the persona of a turn. */
export interface PersonaLookup {
  /** PERSONA_NOT_FOUND when the persona is unknown, deleted or not available to the caller. */
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
  /** Null when there are none. */
  readonly instructions: string | null
  /** Files by their own ids, in the order they were linked. */
  readonly fileIds: readonly string[]
}

/** Finds the project of a turn. */
export interface ProjectLookup {
  /** NOT_FOUND when the project is unknown or another caller's. */
  get(id: number, caller: Principal): Promise<Project>
}
