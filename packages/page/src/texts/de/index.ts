import type { Texts } from '../en/index.ts'
import { chat } from './chat.ts'
import { chats } from './chats.ts'
import { frame } from './frame.ts'
import { pane } from './pane.ts'
import { projects } from './projects.ts'
import { search } from './search.ts'
import { sources } from './sources.ts'
import { steps } from './steps.ts'

export const german: Texts = { frame, chats, chat, search, pane, projects, sources, steps }
