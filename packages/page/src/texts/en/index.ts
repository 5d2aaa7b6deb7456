import { chat } from './chat.ts'
import { chats } from './chats.ts'
import { frame } from './frame.ts'
import { pane } from './pane.ts'
import { projects } from './projects.ts'
import { search } from './search.ts'
import { sources } from './sources.ts'
import { steps } from './steps.ts'

export const english = { frame, chats, chat, search, pane, projects, sources, steps }

/** All words of the page but those of views that are loaded when they are opened. */
export type Texts = typeof english
