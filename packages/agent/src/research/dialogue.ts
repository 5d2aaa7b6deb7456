import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import { cutOff, estimateTokens } from '../prompt/context-window.ts'

const maxQuestions = 5

/** A conversation without its instructions, for a prompt of another role. */
export function withInstructions(instructions: string, prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  return [{ role: 'system', content: instructions }, ...prompt.filter(({ role }) => role !== 'system')]
}

/** The newest part of a conversation: from the fifth last user message, with its files. */
export function newestMessages(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  // Attachments of a message precede it as user messages too.
  const questions = prompt.flatMap(({ role }, index) =>
    role === 'user' && prompt[index - 1]?.role !== 'user' ? [index] : [],
  )
  return prompt.slice(questions.at(-maxQuestions) ?? 0)
}

/** Cuts the longest texts to a common length until all fit. */
export function shortenTexts(texts: readonly string[], maxTokens: number): string[] {
  const sum = (level: number): number => texts.reduce((all, text) => all + Math.min(estimateTokens(text), level), 0)
  let level = Math.max(0, ...texts.map(estimateTokens))
  if (sum(level) <= maxTokens) return [...texts]
  while (level > 50 && sum(level) > maxTokens) level *= 0.85
  return texts.map((text) => {
    const cost = estimateTokens(text)
    if (cost <= level) return text
    return text.slice(0, Math.floor((text.length * level) / cost)) + cutOff
  })
}
