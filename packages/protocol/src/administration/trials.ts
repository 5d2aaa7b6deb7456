import * as v from 'valibot'
import { dictionary, integer, model, orNull, text, type Wire } from '../fields.ts'

/** A model to test. */
export const modelTestRequestSchema = model('ModelTestRequest', {
  /** Provider as `/admin/llm/provider` names it; null: the default model. */
  model_provider: v.nullish(text, null),
  /** Name of the model; null: the default model of the provider. */
  model_version: v.nullish(text, null),
})

export const modelTestSchema = model('ModelTest', {
  /** Provider that answered, as `/admin/llm/provider` names it. */
  model_provider: v.string(),
  /** Name of the model that answered. */
  model_version: v.string(),
  /** Whether it answered. */
  ok: v.boolean(),
  /** Beginning of the answer; null when it failed. */
  text: orNull(v.string()),
  /** Why it failed. */
  error: orNull(v.string()),
  /** Kind of the failure, such as `AUTH_ERROR`, `CONNECTION_ERROR` or `NOT_FOUND`; null when it answered. */
  error_code: orNull(v.string()),
  /** Time until the whole answer, in milliseconds. */
  duration_ms: integer,
})

/** How a model answered a short question. */
export type ModelTest = Wire<typeof modelTestSchema>

/** A call of an action. */
export const toolTestRequestSchema = model('ToolTestRequest', {
  /** Name of the function; null: the only one that the action has. */
  name: v.nullish(text, null),
  /** Arguments, as a model would write them. */
  arguments: v.optional(dictionary(v.unknown()), {}),
})

export const toolTestSchema = model('ToolTest', {
  /** Whether the call succeeded. */
  ok: v.boolean(),
  /** The text that a model would get, or why the call failed. */
  result: v.string(),
  /** Time of the call, in milliseconds. */
  duration_ms: integer,
})

/** Result of a call of an action. */
export type ToolTest = Wire<typeof toolTestSchema>

const toolFunctionSchema = model('ToolFunction', {
  /** Name that models call it by. */
  name: v.string(),
  /** Description for models. */
  description: v.string(),
  /** JSON Schema of its arguments. */
  parameters: dictionary(v.unknown()),
})

/** A function of an action, as models see it. */
export type ToolFunction = Wire<typeof toolFunctionSchema>

export const toolFunctionsSchema = model('ToolFunctions', {
  /** In the order of the action's definition. */
  functions: v.array(toolFunctionSchema),
})

/** The functions of an action. */
export type ToolFunctions = Wire<typeof toolFunctionsSchema>
