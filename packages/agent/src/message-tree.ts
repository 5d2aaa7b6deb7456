import { InlayError } from '@inlay/protocol'

/** Author of a message; `system` is the hidden root of a session's tree. */
export type MessageRole = 'system' | 'user' | 'assistant'

export interface TreeNode {
  readonly id: number
  readonly parentId: number | null
  /** The child that continues the mainline. Default: the newest one. */
  readonly latestChildId?: number | null
  readonly role: MessageRole
}

function endOfMainline(root: TreeNode, nodes: readonly TreeNode[]): TreeNode {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  // Ids increase with age, and nodes are in their order.
  const newest = new Map(nodes.map((node) => [node.parentId, node.id]))
  let node = root
  for (;;) {
    const childId = node.latestChildId === undefined ? newest.get(node.id) : node.latestChildId
    const child = childId === null || childId === undefined ? undefined : byId.get(childId)
    if (!child) return node
    node = child
  }
}

export interface MessagePlace {
  readonly parent: TreeNode
  /** Whether the parent is a question to be answered again, so that no message is added. */
  readonly isRepeat: boolean
  /** Ids of the messages before the question, oldest first, without the root. */
  readonly before: readonly number[]
}

/**
 * Finds the place of a message: -1 is the end of the mainline, null the root, any other number that message of the
 * tree.
 * @param nodes the whole tree, oldest first; never empty
 * @throws VALIDATION_ERROR when the tree has no such message
 */
export function placeMessage(nodes: readonly TreeNode[], parentId: number | null): MessagePlace {
  const root = nodes.find((node) => node.parentId === null)
  if (!root) throw new InlayError('INTERNAL_ERROR')
  const named = parentId === null ? root : nodes.find(({ id }) => id === parentId)
  const parent = parentId === -1 ? endOfMainline(root, nodes) : named
  if (!parent)
    throw new InlayError('VALIDATION_ERROR', {
      message: 'parent_message_id names no message of this chat session: give one of its ids, -1 to append, or null.',
    })
  // Appending after a question without an answer does not repeat the question.
  const isRepeat = parent.role === 'user' && parentId === parent.id
  const path = toPath(nodes, parent.id)
  return { parent, isRepeat, before: (isRepeat ? path.slice(0, -1) : path).slice(1) }
}

/** Ids of the mainline from the root; [] without messages. */
export function toMainline(nodes: readonly TreeNode[]): number[] {
  const root = nodes.find((node) => node.parentId === null)
  if (!root) return []
  return toPath(nodes, endOfMainline(root, nodes).id)
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
