/** What the model does in one call: it says something, or calls tools. */
export type Move = { readonly say: string } | { readonly calls: readonly ToolCall[] }

/** One call of a tool. */
export interface ToolCall {
  readonly name: string
  readonly input: unknown
}
