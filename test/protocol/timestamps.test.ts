import fc from '../fast-check.ts'
import { describe, expect, it } from 'vitest'
import { readTimestamp } from '@inlay/protocol'

describe('a moment', () => {
  it.each([
    ['2026-01-31T09:30:00Z', '2026-01-31T09:30:00.000Z'],
    ['2026-01-31T09:30:00z', '2026-01-31T09:30:00.000Z'],
    ['2026-01-31 09:30:00', '2026-01-31T09:30:00.000Z'],
    ['2026-01-31t09:30', '2026-01-31T09:30:00.000Z'],
    ['2026-01-31', '2026-01-31T00:00:00.000Z'],
    ['2026-01-31T09:30:00.5Z', '2026-01-31T09:30:00.500Z'],
    ['2026-01-31T09:30:00.123456789Z', '2026-01-31T09:30:00.123Z'],
    ['2026-01-31T09:30:00+02:00', '2026-01-31T07:30:00.000Z'],
    ['2026-01-31T09:30:00-0530', '2026-01-31T15:00:00.000Z'],
    ['2026-01-31T09:30:00+02', '2026-01-31T07:30:00.000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
  ])('%s is %s', (written, time) => {
    expect(new Date(readTimestamp(written) ?? NaN).toISOString()).toBe(time)
  })

  it.each([
    'yesterday',
    '',
    '2026-02-30',
    '2025-02-29T00:00:00Z',
    '2026-13-01',
    '2026-00-10',
    '2026-01-31T24:00:00Z',
    '2026-01-31T09:60:00Z',
    '2026-01-31T09:30:61Z',
    '2026-01-31T09:30:00+25:00',
    '2026-01-31T09:30:00+02:99',
    '26-01-31',
    '2026-01-31T',
    '1769851800',
    '2026-01-31T09:30:00Z[UTC]',
  ])('is not %j', (written) => {
    expect(readTimestamp(written)).toBeUndefined()
  })

  it('is read back from every date', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }),
        (date) => {
          expect(readTimestamp(date.toISOString())).toBe(date.getTime())
        },
      ),
    )
  })
})
