import { isInlayError } from '@inlay/protocol'

export interface Finding {
  readonly check: string
  readonly status: 'ok' | 'warning' | 'failed'
  readonly message: string
  readonly advice?: string
}

export const sentenceOf = (error: unknown): string =>
  isInlayError(error) || error instanceof Error ? error.message : 'something failed.'

type MakeFinding = (check: string, message: string, advice?: string) => Finding

const finding =
  (status: Finding['status']): MakeFinding =>
  (check, message, advice) => ({ check, status, message, ...(advice && { advice }) })

export const ok: MakeFinding = finding('ok')
export const warning: MakeFinding = finding('warning')
export const failed: MakeFinding = finding('failed')
