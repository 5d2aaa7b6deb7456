import type { Persona } from '@inlay/agent'
import type { PersonaCreation, PersonaFields, Principal, StarterMessage } from '@inlay/protocol'

/** An agent. The one with id 0 is the default and has no owner. */
export interface StoredPersona extends Persona {
  readonly ownerId: string | null
  readonly ownerEmail: string | null
  readonly name: string
  readonly description: string
  readonly isPublic: boolean
  readonly isDeleted: boolean
  readonly starterMessages: readonly StarterMessage[] | null
  /** Ids or e-mail addresses of people who can use it besides the owner. */
  readonly users: readonly string[]
  /** Names of groups that may use it. */
  readonly groups: readonly string[]
  readonly iconName: string | null
  /** Id of the picture's file. Absent in agents stored before there were pictures. */
  readonly pictureId?: string | null
  readonly displayPriority: number | null
  readonly isListed: boolean
  readonly isFeatured: boolean
}

/** Settings of an agent, stored as one JSON value. */
export type PersonaSettings = Omit<
  StoredPersona,
  'id' | 'ownerId' | 'ownerEmail' | 'name' | 'description' | 'isPublic' | 'isDeleted'
>

/**
 * Agents. Callers see their own, public ones and those shared with them, administrators all; what they do not see is
 * PERSONA_NOT_FOUND. The owner and administrators change them, others get INSUFFICIENT_PERMISSIONS.
 */
export interface Personas {
  /** The default agent first, then by display priority, then by id. */
  list(
    caller: Principal,
    options?: { readonly includeDeleted?: boolean; readonly ids?: readonly number[] },
  ): Promise<readonly StoredPersona[]>
  get(id: number, caller: Principal): Promise<StoredPersona>
  /**
   * @throws VALIDATION_ERROR (unknown action or model), DOCUMENT_SET_NOT_FOUND, NOT_FOUND (file),
   * INSUFFICIENT_PERMISSIONS (what administrators alone decide)
   */
  create(fields: PersonaCreation, caller: Principal): Promise<StoredPersona>
  /** Like `create`; absent fields keep their values. INVALID_INPUT for the default agent. */
  update(id: number, fields: PersonaFields, caller: Principal): Promise<StoredPersona>
  /**
   * Transfers ownership; the previous owner loses access. INVALID_INPUT for the default agent.
   * @param owner id of a person, in its own form, and their e-mail address if it is known
   */
  transfer(
    id: number,
    owner: { readonly id: string; readonly email: string | null },
    caller: Principal,
  ): Promise<StoredPersona>
  /**
   * The id, in its own form, of somebody who has a session or an agent; undefined when nobody with the wire's id has.
   */
  findPerson(userId: string): Promise<string | undefined>
  /** Removes the caller from the people an agent is shared with. INVALID_INPUT when they are not among them. */
  leave(id: number, caller: Principal): Promise<void>
  /** Whether an agent that the caller may use shows a file as its picture. */
  showsPicture(fileId: string, caller: Principal): Promise<boolean>
  /** Also removes its picture. Its sessions stay but cannot be continued. INVALID_INPUT for the default agent. */
  remove(id: number, caller: Principal): Promise<void>
}
