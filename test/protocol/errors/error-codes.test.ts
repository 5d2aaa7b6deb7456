import { describe, expect, it } from 'vitest'
import { type ErrorCode, errorTable, InlayError, isInlayError, validationFailed } from '@inlay/protocol'

describe('an error', () => {
  it.each(Object.keys(errorTable) as ErrorCode[])('of code %s has its status, sentence and advice', (code) => {
    const { status, message, retryable } = errorTable[code]
    expect(new InlayError(code)).toMatchObject({ code, status, message, retryable, data: {}, name: 'InlayError' })
    expect(status).toBeGreaterThanOrEqual(400)
    expect(message).toMatch(/^[A-Z].*\.$/)
  })

  it('keeps what it was made of', () => {
    const cause = new TypeError('x')
    const error = new InlayError('CONFLICT', { message: 'Twice.', cause, data: { a: 1 }, retryable: true })
    expect(error).toMatchObject({ message: 'Twice.', cause, data: { a: 1 }, retryable: true })
  })

  it('is known by its mark, also when another copy of the package made it', () => {
    const foreign = Object.assign(new Error('x'), { [Symbol.for('inlay.error')]: true })
    expect([new InlayError('GONE'), foreign].every(isInlayError)).toBe(true)
    expect([new Error('x'), null, undefined, 'GONE', {}].some(isInlayError)).toBe(false)
  })

  it('of a wrong request carries its issues', () => {
    const issues = [{ loc: ['body'], msg: 'is required', type: 'missing' }]
    expect(validationFailed(issues)).toMatchObject({ status: 422, data: { issues } })
  })
})
