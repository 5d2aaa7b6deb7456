import type { Block } from '@inlay/protocol'
import type { JSX } from 'preact'
import {
  ClipIcon,
  FileIcon,
  OutIcon,
  PenIcon,
  ResearchIcon,
  SearchIcon,
  SparkIcon,
  ToolIcon,
} from '../controls/icons.tsx'

/** Icons of the built-in actions; others get the icon of a tool. */
const toolIcons: Readonly<Record<string, () => JSX.Element>> = {
  internal_search: SearchIcon,
  web_search: SearchIcon,
  open_url: OutIcon,
  read_file: FileIcon,
  generate_image: PenIcon,
  add_memory: ClipIcon,
}

export function StepIcon({ step }: { step: Exclude<Block, { kind: 'text' }> }) {
  const Icon = iconOf(step)
  return (
    <span class="step-icon u-inline-flex u-center u-muted">
      <Icon />
    </span>
  )
}

function iconOf(step: Exclude<Block, { kind: 'text' }>): () => JSX.Element {
  if (step.kind === 'tool') return (Object.hasOwn(toolIcons, step.toolName) && toolIcons[step.toolName]) || ToolIcon
  return step.kind === 'research' ? ResearchIcon : SparkIcon
}
