import type { PersonaCreation, PersonaFields, Principal, StarterMessage } from '@inlay/protocol'

/** What makes an agent what it is. */
export interface PersonaSettings {
  /** Stands beside the built-in instructions, or instead of them. */
  readonly systemPrompt: string
  readonly replacesBasePrompt: boolean
  /** Said again after the conversation, before each answer. */
  readonly taskPrompt: string
  readonly isDatetimeAware: boolean
  /** Null: every action there is. */
  readonly actionIds: readonly number[] | null
  /** Searches are narrowed to these document sets; empty: they are not. */
  readonly documentSetIds: readonly number[]
  /** Null: the default model. */
  readonly model: { readonly provider: string; readonly name: string } | null
  readonly starterMessages: readonly StarterMessage[] | null
  /** Who may use it besides the owner: ids or e-mail addresses. */
  readonly users: readonly string[]
  /** Names of groups that may use it. */
  readonly groups: readonly string[]
  readonly iconName: string | null
  /** Documents older than this are not searched; ISO 8601 with `Z`. */
  readonly searchStartDate: string | null
  readonly displayPriority: number | null
  readonly isListed: boolean
  readonly isFeatured: boolean
  /** Files it knows by heart, by their own ids. */
  readonly fileIds: readonly string[]
}

/** An agent: the assistant in a role. The one with id 0 is the default and belongs to nobody. */
export interface Persona extends PersonaSettings {
  readonly id: number
  readonly ownerId: string | null
  readonly ownerEmail: string | null
  readonly name: string
  readonly description: string
  readonly isPublic: boolean
  readonly isDeleted: boolean
}

/**
 * Agents. Callers see their own, public ones and those shared with them, administrators all; what they do not see is
 * PERSONA_NOT_FOUND. The owner and administrators change them, others get INSUFFICIENT_PERMISSIONS.
 */
export interface Personas {
  /** The default agent first, then by display priority, then by id. */
  list(
    caller: Principal,
    options?: { readonly includeDeleted?: boolean; readonly ids?: readonly number[] },
  ): Promise<readonly Persona[]>
  get(id: number, caller: Principal): Promise<Persona>
  /**
   * @throws VALIDATION_ERROR (unknown action or model), DOCUMENT_SET_NOT_FOUND, NOT_FOUND (file),
   * INSUFFICIENT_PERMISSIONS (what administrators alone decide)
   */
  create(fields: PersonaCreation, caller: Principal): Promise<Persona>
  /** As `create`; absent fields stay. INVALID_INPUT for the default agent. */
  update(id: number, fields: PersonaFields, caller: Principal): Promise<Persona>
  /** Its sessions stay, and cannot be gone on with. INVALID_INPUT for the default agent. */
  remove(id: number, caller: Principal): Promise<void>
}
