import type { Texts } from '../en/index.ts'

export const health: Texts['health'] = {}
