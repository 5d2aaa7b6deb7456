import { toUserId } from '@inlay/protocol'
import {
  fromLimitSet,
  limitChangeSchema,
  limitsInForceSchema,
  toLimitSet,
  wireLimitName,
  type LimitChange,
  type LimitsInForce,
} from '@inlay/protocol/administration'
import { needed } from '../../administration/workspace-of.ts'
import { routesOf, type Route, type ServerParts } from '../../http/route.ts'
import type { UsageLimits } from '../../limits/caller-limits.ts'
import { periodOf } from '../../limits/usage-counters.ts'

const route = routesOf('Service', { scope: 'admin', owner: 'any' })
const errors = ['NOT_IMPLEMENTED'] as const

export const limitRoutes: readonly Route[] = [
  route('GET /admin/limits', 'getLimits', 'Get limits and usage', {
    description:
      'Limits of each caller and of all callers together, and how much of them is used. A key with its own limits is ' +
      'returned with them.',
    answer: { description: 'The limits in force.', schema: limitsInForceSchema },
    errors,
    handle: ({ parts }) => shown(usageOf(parts)),
  }),
  route('PATCH /admin/limits', 'changeLimits', 'Change limits', {
    description:
      'Absent fields stay unchanged; null restores the limits of the deployment. A given set ' +
      'replaces all previous limits of that scope. Takes effect in every process within a second.',
    input: { body: limitChangeSchema },
    answer: { description: 'The limits in force.', schema: limitsInForceSchema },
    errors,
    async handle({ body, parts }) {
      const usage = usageOf(parts)
      await usage.change(toChange(body))
      return shown(usage)
    },
  }),
]

function toChange({ callers, tenant }: LimitChange): Parameters<UsageLimits['change']>[0] {
  return {
    ...(callers !== undefined && { callers: callers && fromLimitSet(callers) }),
    ...(tenant !== undefined && { tenant: tenant && fromLimitSet(tenant) }),
  }
}

async function shown(usage: UsageLimits): Promise<LimitsInForce> {
  const { callers, tenant } = await usage.inForce()
  const used = await usage.used()
  return {
    callers: toLimitSet(callers),
    tenant: toLimitSet(tenant),
    used: used.map(({ scope, owner, name, period, used: amount }) => ({
      of: scope,
      user_id: scope === 'caller' ? toUserId(owner) : null,
      api_key_id: scope === 'key' ? Number(owner) : null,
      limit: wireLimitName(name),
      used: amount,
      resets_at: new Date(period + periodOf(name)).toISOString(),
    })),
  }
}

const usageOf = ({ usage }: ServerParts): UsageLimits => needed(usage, 'This deployment does not count usage.')
