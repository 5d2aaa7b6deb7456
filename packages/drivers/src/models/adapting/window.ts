// As OpenAI and vLLM, llama.cpp, Anthropic, LM Studio and text-generation-inference write it.
const stated: readonly RegExp[] = [
  /maximum context length (?:is|of) (\d[\d,_]*)/i,
  /"?n_ctx"?\s*[:=]\s*(\d+)/,
  /prompt is too long: [\d,]+ tokens? > (\d[\d,]*)/i,
  /context (?:length|window|size)[^.\d]{0,40}?\(?(\d[\d,]{2,})/i,
  /max_model_len[^\d]{0,20}(\d+)/i,
  /max_new_tokens`? must be <= (\d+)/i,
  /maximum (?:number of tokens|model length|sequence length)[^\d]{0,30}(\d[\d,]*)/i,
]

/** The window that a refusal of a prompt names, in tokens. */
export function statedWindow(text: string): number | undefined {
  for (const pattern of stated) {
    const tokens = Number(pattern.exec(text)?.[1]?.replaceAll(/[,_]/g, ''))
    if (Number.isSafeInteger(tokens) && tokens >= 256) return tokens
  }
  return undefined
}
