import { InlayError } from '@inlay/protocol'
import type { WorkspaceRecords } from './workspace-records.ts'

export interface WorkspaceParts {
  readonly workspace?: WorkspaceRecords
}

/** A part that a deployment may do without. @throws NOT_IMPLEMENTED with the message */
export function needed<Part>(part: Part | undefined, message: string): Part {
  if (part !== undefined) return part
  throw new InlayError('NOT_IMPLEMENTED', { message })
}

/** The store of settings made over the API. @throws NOT_IMPLEMENTED when the host provides none */
export const workspaceOf = ({ workspace }: WorkspaceParts): WorkspaceRecords =>
  needed(workspace, 'This deployment does not store settings made over the API.')
