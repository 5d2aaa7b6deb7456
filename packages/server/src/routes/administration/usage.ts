import { toUserId } from '@inlay/protocol'
import { usageQuerySchema, usageReportSchema } from '@inlay/protocol/administration'
import { routesOf, type Route } from '../../http/route.ts'

const route = routesOf('Service', { scope: 'admin', owner: 'any' })
const dayMs = 86_400_000

export const usageRoutes: readonly Route[] = [
  route('GET /admin/usage', 'getUsage', 'Answers and tokens by person and model', {
    description:
      'Counts stored answers, those of hidden sessions too. Erased sessions are not counted any more. Answers from before ' +
      'tokens were stored, and those of providers that count none, add nothing to the tokens. ' +
      'Those of a step that was stopped are estimated.',
    input: { query: usageQuerySchema },
    answer: { description: 'The usage.', schema: usageReportSchema },
    async handle({ query, parts }) {
      const [{ since, entries }, allKeys, liveKeys] = await Promise.all([
        parts.agent.usage(query.days * dayMs),
        // Answers outlive the key they were asked for with.
        parts.keys?.list({ withRevoked: true }) ?? [],
        parts.keys?.list() ?? [],
      ])
      // Of keys with the same owner the last one counts.
      const keys = [...allKeys, ...liveKeys]
      const emails = new Map(keys.flatMap(({ owner, email }) => (email === null ? [] : [[owner, email] as const])))
      const names = new Map(keys.flatMap(({ owner, name }) => (name === null ? [] : [[owner, name] as const])))
      return {
        since: new Date(since).toISOString(),
        entries: entries.map((entry) => ({
          user_id: toUserId(entry.ownerId),
          name: names.get(entry.ownerId) ?? entry.ownerId,
          email: emails.get(entry.ownerId) ?? null,
          model_provider: entry.provider,
          model_version: entry.model,
          answers: entry.answers,
          failed: entry.failed,
          counted: entry.counted,
          input_tokens: entry.inputTokens,
          output_tokens: entry.outputTokens,
          seconds: entry.durationMs / 1000,
        })),
      }
    },
  }),
]
