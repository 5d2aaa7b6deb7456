import { InlayError } from '@inlay/protocol'

/** Who wrote a message; `system` is the hidden root of a session's tree. */
export type MessageRole = 'system' | 'user' | 'assistant'

/** A message as its session's tree sees it. */
export interface TreeNode {
  readonly id: number
  readonly parentId: number | null
  readonly latestChildId: number | null
  readonly role: MessageRole
}

/**
 * Finds the message a new one hangs under: -1 is the end of the mainline, null the root, any other number that message
 * of the tree, on the mainline or not. A user message as parent means that it is to be answered again.
 * @param nodes the whole tree, root first; never empty
 * @throws VALIDATION_ERROR when the tree has no such message
 */
export function resolveParent(nodes: readonly TreeNode[], parentId: number | null): TreeNode {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const root = nodes.find((node) => node.parentId === null)
  if (!root) throw new InlayError('INTERNAL_ERROR')
  if (parentId === null) return root
  if (parentId === -1) return endOfMainline(root, byId)
  const parent = byId.get(parentId)
  if (parent) return parent
  throw new InlayError('VALIDATION_ERROR', {
    message: 'parent_message_id names no message of this chat session: give one of its ids, -1 to append, or null.',
  })
}

function endOfMainline(root: TreeNode, byId: ReadonlyMap<number, TreeNode>): TreeNode {
  let node = root
  for (;;) {
    const child = node.latestChildId === null ? undefined : byId.get(node.latestChildId)
    if (!child) return node
    node = child
  }
}

/** Ids of the mainline from the root on; [] without messages. */
export function toMainline(nodes: readonly TreeNode[]): number[] {
  const root = nodes.find((node) => node.parentId === null)
  if (!root) return []
  return toPath(nodes, endOfMainline(root, new Map(nodes.map((node) => [node.id, node]))).id)
}

/** Ids from the root to a message, both included. */
export function toPath(nodes: readonly TreeNode[], id: number): number[] {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const path: number[] = []
  for (let node = byId.get(id); node; node = node.parentId === null ? undefined : byId.get(node.parentId)) {
    path.push(node.id)
  }
  return path.toReversed()
}
