"""Pages and links in: crawl exports, websites, existing links and drafts."""
