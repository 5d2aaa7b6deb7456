/** All texts of the element, for translations. */
export type InlayChatTexts = typeof english

export const english = {
  /** Heading of the chat and title of its window. */
  heading: 'Ask the assistant',
  /** Shown before the first question. */
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
  /** Shown while an answer waits for the connection. */
  offline: 'No connection. Trying again…',
  stopped: 'You stopped this answer.',
  sources: 'Sources',
  /** Label of a citation; `{number}` and `{title}` are replaced. */
  source: 'Source {number}: {title}',
  openSource: 'Open the document',
  /** Asks to approve a call; `{tool}` is replaced. */
  approval: 'The assistant wants to use {tool}',
  approve: 'Approve',
  decline: 'Decline',
  /** Shown when the time to approve a call is over. */
  expired: 'The time to approve this is over. Ask again.',
}
