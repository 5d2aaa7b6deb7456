import { readSettings } from 'inlay/internal/settings/read-settings'
import { expect, test } from 'vitest'

test('limits are read by name, and a name misspelt is told', () => {
  const { options } = readSettings({
    INLAY_CALLER_LIMITS: 'requestsPerMinute=60, waitingDocuments=10',
    INLAY_TENANT_LIMITS: 'tokensPerDay=0',
  })
  expect(options).toMatchObject({
    callerLimits: { requestsPerMinute: 60, waitingDocuments: 10 },
    tenantLimits: { tokensPerDay: 0 },
  })
  for (const wrong of ['requestPerMinute=60', 'tokensPerDay', 'tokensPerDay=-1', 'tokensPerDay=1 tokensPerDay=2'])
    expect(() => readSettings({ INLAY_CALLER_LIMITS: wrong })).toThrow(/INLAY_CALLER_LIMITS/)
})
