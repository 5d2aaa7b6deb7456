import type { Personalization } from '@inlay/conversations'

/** Memories of a person without settings or memories. */
export const nobody: Personalization = {
  name: '',
  role: '',
  preferences: '',
  usesMemories: true,
  keepsMemories: true,
  memories: [],
}
