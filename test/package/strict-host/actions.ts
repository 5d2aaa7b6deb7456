/** Actions with schemas of the common libraries, also where the model gives one type and `run` gets another. */
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import { createInlay, defineAction } from 'inlay'
import * as v from 'valibot'
import { z } from 'zod'

const described = { description: 'An action of a host.' }
const say = (days: number, since: Date, note: string | undefined, unit: string) =>
  `${days.toFixed()} ${since.toISOString()} ${note?.trim()} ${unit.toUpperCase()}`

export const ofZod = defineAction({
  ...described,
  name: 'of_zod',
  input: z.object({
    days: z.coerce.number().default(10),
    since: z.string().transform((text) => new Date(text)),
    note: z.string().optional(),
    unit: z.string().default('days'),
  }),
  run: async ({ days, since, note, unit }) => say(days, since, note, unit),
})

export const ofValibot = defineAction({
  ...described,
  name: 'of_valibot',
  input: toStandardJsonSchema(
    v.object({
      days: v.optional(v.number(), 10),
      since: v.pipe(
        v.string(),
        v.transform((text) => new Date(text)),
      ),
      note: v.optional(v.string()),
      unit: v.optional(v.string(), 'days'),
    }),
  ),
  run: async ({ days, since, note, unit }) => say(days, since, note, unit),
})

export const ofArktype = defineAction({
  ...described,
  name: 'of_arktype',
  input: type({
    days: 'number = 10',
    since: 'string.date.parse',
    'note?': 'string',
    unit: 'string = "days"',
  }),
  run: async ({ days, since, note, unit }) => say(days, since, note, unit),
})

export const inlay = createInlay({ actions: [ofZod, ofValibot, ofArktype] })

defineAction({
  ...described,
  name: 'wrong',
  input: z.object({ days: z.number() }),
  // @ts-expect-error: there is no such argument
  run: async ({ weeks }) => String(weeks),
})
