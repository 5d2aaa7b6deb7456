import type { Personalization } from '@inlay/conversations'

/** Of somebody who has set nothing and of whom nothing is remembered. */
export const nobody: Personalization = {
  name: '',
  role: '',
  preferences: '',
  usesMemories: true,
  keepsMemories: true,
  memories: [],
}
