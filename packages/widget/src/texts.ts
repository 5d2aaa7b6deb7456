/** All texts of the element, for translations. */
export interface InlayChatTexts {
  /** Heading of the chat and title of its window. */
  heading: string
  /** Shown before the first question. */
  welcome: string
  placeholder: string
  question: string
  send: string
  stop: string
  open: string
  close: string
  newChat: string
  pastChats: string
  retry: string
  searching: string
  thinking: string
  working: string
  answering: string
  /** Shown while an answer waits for the connection. */
  offline: string
  stopped: string
  sources: string
  /** Label of a citation; `{number}` and `{title}` are replaced. */
  source: string
  openSource: string
  /** Asks to approve a call; `{tool}` is replaced. */
  approval: string
  approve: string
  decline: string
  /** Shown when the time to approve a call is over. */
  expired: string
}

export const english: InlayChatTexts = {
  heading: 'Ask the assistant',
  welcome: 'Ask a question. Answers cite the documents they come from.',
  placeholder: 'Ask a question',
  question: 'Your question',
  send: 'Send',
  stop: 'Stop answering',
  open: 'Open the chat',
  close: 'Close the chat',
  newChat: 'New chat',
  pastChats: 'Earlier chats',
  retry: 'Try again',
  searching: 'Searching',
  thinking: 'Thinking',
  working: 'Working',
  answering: 'Answering',
  offline: 'No connection. Trying again…',
  stopped: 'You stopped this answer.',
  sources: 'Sources',
  source: 'Source {number}: {title}',
  openSource: 'Open the document',
  approval: 'The assistant wants to use {tool}',
  approve: 'Approve',
  decline: 'Decline',
  expired: 'The time to approve this is over. Ask again.',
}
