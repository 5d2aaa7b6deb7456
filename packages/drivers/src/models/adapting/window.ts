// Error messages of OpenAI and vLLM, llama.cpp, Anthropic, LM Studio, text-generation-inference and others; the first match counts.
const stated: readonly RegExp[] = [
  /maximum context length (?:is|of) (\d[\d,_]*)/i,
  /with (\d[\d,]*) maximum context length/i,
  /"?n_ctx"?\s*[:=(]\s*(\d+)/,
  /(?:prompt is too long|context limit): [\d,+ ]+(?:tokens? )?> (\d[\d,]*)/i,
  /configured limit of (\d[\d,]*) tokens/i,
  /model token limit: (\d+)/i,
  /length should be \[\d+, (\d+)\]/i,
  /while limit is (\d+)/i,
  /supports (?:only )?up to (\d[\d,]*)/i,
  /exceeds? the limit of (\d[\d,]*)/i,
  /max_seq_len(?:gth)? (\d+)/i,
  /max size: (\d+) tokens/i,
  /must have less than (\d+) tokens/i,
  // Not the error number that MiniMax appends.
  /context (?:length|window|size)(?! exceeds limit \()[^.\d]{0,40}?\(?(\d[\d,]{2,})/i,
  /max_model_len[^\d]{0,20}(\d+)/i,
  /max_new_tokens`? must be <= (\d+)/i,
  /maximum (?:number of tokens|model length|sequence length|prompt length|allowed (?:input )?length)[^\d]{0,30}(\d[\d,]*)/i,
]

// A limit of tokens a minute is no window.
const limitsRate = /rate.?limit|throttl|tokens per (?:min|hour|day)/i

/** The window that a refusal of a prompt names, in tokens. */
export function statedWindow(text: string): number | undefined {
  if (limitsRate.test(text)) return undefined
  for (const pattern of stated) {
    const tokens = Number(pattern.exec(text)?.[1]?.replaceAll(/[,_]/g, ''))
    if (Number.isSafeInteger(tokens) && tokens >= 256) return tokens
  }
  return undefined
}
